"""Keras 3 layers and losses of language models, on `keras.ops` only: TensorFlow, JAX and torch run them.

`StackConfig` is the config of a stack of transformer blocks.

Example:

>>> import numpy as np
>>> from firth.layers import MaskedTransformer, StackConfig
>>> encoder = MaskedTransformer(StackConfig(layers=2, width=64, attention={"heads": 4}))
>>> tuple(encoder(np.ones((1, 5, 64)), document_ids=np.ones((1, 5), "int32")).shape)
(1, 5, 64)
"""

from firth.lazy import attach_stub

# Keras finds a saved layer's class only if it is loaded. `StackConfig` waits, for layers need no pydantic.
__getattr__, __dir__, __all__ = attach_stub(__name__, __file__, deferred=["StackConfig"])
