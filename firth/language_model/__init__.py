"""The front door: language models with their tokenizers inside, opened, made, trained and asked in Python.

`firth.load`, `firth.create`, `firth.pretrain` and `firth.LanguageModel` are its names for users.
"""

from firth.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
