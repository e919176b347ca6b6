"""TFX components. Each is loaded when it is first used, because the import of TFX takes long."""

from firth.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
