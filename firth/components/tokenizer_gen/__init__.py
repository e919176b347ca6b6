"""TokenizerGen: a tokenizer trained on the train split."""

from firth.components.tokenizer_gen.component import TokenizerGen

__all__ = ["TokenizerGen"]
