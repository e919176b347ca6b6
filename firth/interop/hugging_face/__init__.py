"""Models in Hugging Face's format."""

from firth.interop.hugging_face.exporting import export_model
from firth.interop.hugging_face.importing import import_model
from firth.interop.hugging_face.loading import load_backbone

__all__ = ["export_model", "import_model", "load_backbone"]
