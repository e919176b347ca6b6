"""Keras 3 layers and losses of language models, on `keras.ops` only: TensorFlow, JAX and torch run them.

`StackConfig` is what a stack of transformer blocks is made of.

Example:

>>> import numpy as np
>>> from firth.layers import MaskedTransformer, StackConfig
>>> encoder = MaskedTransformer(StackConfig(layers=2, width=64, attention={"heads": 4}))
>>> tuple(encoder(np.ones((1, 5, 64)), document_ids=np.ones((1, 5), "int32")).shape)
(1, 5, 64)
"""

from firth.layers.attention.attention import Attention
from firth.layers.attention.disentangled_attention import DisentangledAttention
from firth.layers.attention.two_stream_attention import TwoStreamAttention
from firth.layers.blocks.causal_transformer import CausalTransformer
from firth.layers.blocks.feed_forward import FeedForward
from firth.layers.blocks.input_embedding import InputEmbedding
from firth.layers.blocks.masked_transformer import MaskedTransformer
from firth.layers.blocks.scalar_mix import ScalarMix
from firth.layers.blocks.transformer_block import TransformerBlock
from firth.layers.blocks.two_stream_block import TwoStreamBlock
from firth.layers.blocks.two_stream_transformer import TwoStreamTransformer
from firth.layers.characters.char_cnn import CharCNN
from firth.layers.characters.highway import Highway
from firth.layers.elements.configs import find_type
from firth.layers.elements.dropout import Dropout
from firth.layers.elements.embedding import Embedding
from firth.layers.heads.attention_pooling import AttentionPooling
from firth.layers.heads.linear_chain_crf import LinearChainCRF
from firth.layers.heads.masked_lm_head import MaskedLMHead
from firth.layers.heads.next_sentence_head import NextSentenceHead
from firth.layers.heads.pooler import Pooler
from firth.layers.heads.span_boundary_head import SpanBoundaryHead
from firth.layers.losses.chunked_cross_entropy import chunked_cross_entropy
from firth.layers.losses.cross_entropy import cross_entropy
from firth.layers.losses.sampled_softmax import sampled_cross_entropy
from firth.layers.positions.disentangled_positions import DisentangledPositions
from firth.layers.positions.relative_bucket_bias import RelativeBucketBias
from firth.layers.positions.rotary_positions import RotaryPositions
from firth.layers.positions.sinusoidal_positions import SinusoidalPositions
from firth.layers.recurrent.bilstm import BiLSTM
from firth.layers.recurrent.lstm import LSTM

__all__ = [
    "LSTM",
    "Attention",
    "AttentionPooling",
    "BiLSTM",
    "CausalTransformer",
    "CharCNN",
    "DisentangledAttention",
    "DisentangledPositions",
    "Dropout",
    "Embedding",
    "FeedForward",
    "Highway",
    "InputEmbedding",
    "LinearChainCRF",
    "MaskedLMHead",
    "MaskedTransformer",
    "NextSentenceHead",
    "Pooler",
    "RelativeBucketBias",
    "RotaryPositions",
    "ScalarMix",
    "SinusoidalPositions",
    "SpanBoundaryHead",
    "StackConfig",
    "TransformerBlock",
    "TwoStreamAttention",
    "TwoStreamBlock",
    "TwoStreamTransformer",
    "chunked_cross_entropy",
    "cross_entropy",
    "sampled_cross_entropy",
]

# `StackConfig` loads with its first use, for layers alone need no pydantic.
__getattr__ = find_type
