"""Keras 3 layers of language models, on `keras.ops` only: TensorFlow, JAX and torch run them."""

from firth.layers.attention.attention import Attention
from firth.layers.attention.attention_bias import attention_bias, bias_where
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
from firth.layers.elements.activations import ACTIVATIONS, gelu, gelu_approximate, get_activation
from firth.layers.elements.custom_gradient import custom_gradient
from firth.layers.elements.dropout import Dropout
from firth.layers.elements.embedding import Embedding
from firth.layers.elements.gather_rows import gather_rows, gather_tokens
from firth.layers.elements.norms import build_norm
from firth.layers.heads.masked_lm_head import MaskedLMHead
from firth.layers.heads.next_sentence_head import NextSentenceHead
from firth.layers.heads.pooler import Pooler
from firth.layers.heads.span_boundary_head import SpanBoundaryHead
from firth.layers.heads.tied_projection import tied_projection
from firth.layers.losses.chunked_cross_entropy import chunked_cross_entropy
from firth.layers.losses.sampled_softmax import draw_candidates, sampled_cross_entropy
from firth.layers.positions.disentangled_positions import DisentangledPositions
from firth.layers.positions.relative_bucket_bias import RelativeBucketBias
from firth.layers.positions.relative_shift import relative_shift, relative_shift_at
from firth.layers.positions.relative_sinusoids import relative_sinusoids
from firth.layers.positions.rotary_positions import RotaryPositions, rotate
from firth.layers.positions.sinusoidal_positions import SinusoidalPositions
from firth.layers.recurrent.bilstm import BiLSTM
from firth.layers.recurrent.lstm import LSTM

__all__ = [
    "ACTIVATIONS",
    "LSTM",
    "Attention",
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
    "MaskedLMHead",
    "MaskedTransformer",
    "NextSentenceHead",
    "Pooler",
    "RelativeBucketBias",
    "RotaryPositions",
    "ScalarMix",
    "SinusoidalPositions",
    "SpanBoundaryHead",
    "TransformerBlock",
    "TwoStreamAttention",
    "TwoStreamBlock",
    "TwoStreamTransformer",
    "attention_bias",
    "bias_where",
    "build_norm",
    "chunked_cross_entropy",
    "custom_gradient",
    "draw_candidates",
    "gather_rows",
    "gather_tokens",
    "gelu",
    "gelu_approximate",
    "get_activation",
    "relative_shift",
    "relative_shift_at",
    "relative_sinusoids",
    "rotate",
    "sampled_cross_entropy",
    "tied_projection",
]
