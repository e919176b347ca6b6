"""Readers of labelled files: published formats in the table `FORMATS`, and one's own by their columns."""

from firth.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
