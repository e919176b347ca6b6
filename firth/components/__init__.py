"""TFX components. Each is loaded when it is first asked for, since TFX itself takes long to import."""

from firth.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
