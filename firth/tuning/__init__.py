"""Methods that adapt a model: the weights that are trained, and the additions to it."""

from firth.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
