"""Adapters as peft keeps them, of models in Hugging Face's format."""

from firth.interop.peft.folders import export_model, load_adapter

__all__ = ["export_model", "load_adapter"]
