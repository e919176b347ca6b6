"""firth: pre-training, adapting and serving language models as TFX pipelines.

`firth.load` opens a model, `firth.create` makes one, `firth.pretrain` trains one on raw text; each is a
`firth.LanguageModel`, a Keras model with its tokenizer inside. Names and packages load on first use.

In a container, TFX imports the class of an artifact by the name of its type, such as `firth.Tokenizer`.
"""

from firth.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
