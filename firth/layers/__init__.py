"""Keras 3 layers of language models, on `keras.ops` only: TensorFlow, JAX and torch run them."""

from firth.layers.activations import ACTIVATIONS, gelu, gelu_approximate, get_activation
from firth.layers.custom_gradient import custom_gradient
from firth.layers.document_mask import document_bias
from firth.layers.dropout import Dropout
from firth.layers.embedding import Embedding
from firth.layers.feed_forward import FeedForward
from firth.layers.gather_rows import gather_rows, gather_tokens
from firth.layers.masked_lm_head import MaskedLMHead
from firth.layers.masked_transformer import MaskedTransformer
from firth.layers.next_sentence_head import NextSentenceHead
from firth.layers.pooler import Pooler
from firth.layers.post_norm_block import PostNormBlock
from firth.layers.self_attention import SelfAttention
from firth.layers.tied_projection import tied_projection
from firth.layers.token_segment_position_embedding import TokenSegmentPositionEmbedding

__all__ = [
    "ACTIVATIONS",
    "Dropout",
    "Embedding",
    "FeedForward",
    "MaskedLMHead",
    "MaskedTransformer",
    "NextSentenceHead",
    "Pooler",
    "PostNormBlock",
    "SelfAttention",
    "TokenSegmentPositionEmbedding",
    "custom_gradient",
    "document_bias",
    "gather_rows",
    "gather_tokens",
    "gelu",
    "gelu_approximate",
    "get_activation",
    "tied_projection",
]
