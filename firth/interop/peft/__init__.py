"""Adapters as peft keeps them, of models in Hugging Face's format."""

from firth.interop.peft.exporting import export_model
from firth.interop.peft.loading import load_adapter

__all__ = ["export_model", "load_adapter"]
