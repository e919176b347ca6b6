"""firth: pre-training, adapting and serving language models as TFX pipelines.

In a container, TFX imports the class of an artifact by the name of its type, such as `firth.Tokenizer`.
"""

from firth.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
