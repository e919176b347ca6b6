"""Speculative decoding: tokens are guessed, and the model reads them all at once to see which it keeps."""

from firth.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
