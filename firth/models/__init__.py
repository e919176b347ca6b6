"""Backbones and heads, built from layers and described by recipes.

Example: a backbone alone, from its config.

>>> import numpy as np
>>> config = CausalTransformerConfig(layers=1, width=8, attention={"heads": 2})
>>> backbone = CausalTransformerBackbone(10, config)
>>> ones = np.ones((1, 5), "int32")
>>> tuple(backbone({"token_ids": ones, "position_ids": ones, "document_ids": ones}).shape)
(1, 5, 8)
"""

from firth.lazy import attach_stub

# Keras finds the class of a saved model only if it is loaded.
__getattr__, __dir__, __all__ = attach_stub(__name__, __file__, deferred=())
