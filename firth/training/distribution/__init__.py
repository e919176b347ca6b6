"""The devices and the processes of a training, and the division of its batches among them."""

from firth.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
