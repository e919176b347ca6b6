"""Models for CTranslate2, which runs BERT, RoBERTa, GPT-2, Llama, T5 and BART."""

from firth.interop.ctranslate2.encoder import EncodingModel
from firth.interop.ctranslate2.exporting import export_model
from firth.interop.ctranslate2.generator import CTranslate2Generator

__all__ = ["CTranslate2Generator", "EncodingModel", "export_model"]
