"""Models in Hugging Face's format."""

from firth.interop.hugging_face.loading import load_backbone

__all__ = ["load_backbone"]
