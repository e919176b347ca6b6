"""Published ELMo weights."""

from firth.interop.elmo.importing import import_model

__all__ = ["import_model"]
