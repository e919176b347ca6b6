"""Models in Hugging Face's format."""

from firth.interop.hugging_face.importing import import_model
from firth.interop.hugging_face.loading import load_backbone

__all__ = ["import_model", "load_backbone"]
