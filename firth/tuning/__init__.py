"""Methods: which weights of a model are trained when it is adapted, and what is added to it."""

from firth.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
