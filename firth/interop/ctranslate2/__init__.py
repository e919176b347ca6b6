"""Models for CTranslate2, which runs BERT, RoBERTa, GPT-2, Llama, T5 and BART."""

from firth.interop.ctranslate2.exporting import export_model

__all__ = ["export_model"]
