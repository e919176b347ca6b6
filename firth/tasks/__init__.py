"""Downstream tasks: pure functions from rows with labels to Features."""

from firth.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
