"""Keras 3 layers of language models, on `keras.ops` only: TensorFlow, JAX and torch run them."""

from firth.layers.activations import ACTIVATIONS, gelu, gelu_approximate, get_activation
from firth.layers.attention import Attention
from firth.layers.attention_bias import attention_bias, bias_where
from firth.layers.bilstm import BiLSTM
from firth.layers.causal_transformer import CausalTransformer
from firth.layers.char_cnn import CharCNN
from firth.layers.chunked_cross_entropy import chunked_cross_entropy
from firth.layers.custom_gradient import custom_gradient
from firth.layers.disentangled_attention import DisentangledAttention
from firth.layers.disentangled_positions import DisentangledPositions
from firth.layers.dropout import Dropout
from firth.layers.embedding import Embedding
from firth.layers.feed_forward import FeedForward
from firth.layers.gather_rows import gather_rows, gather_tokens
from firth.layers.highway import Highway
from firth.layers.input_embedding import InputEmbedding
from firth.layers.lstm import LSTM
from firth.layers.masked_lm_head import MaskedLMHead
from firth.layers.masked_transformer import MaskedTransformer
from firth.layers.next_sentence_head import NextSentenceHead
from firth.layers.norms import build_norm
from firth.layers.pooler import Pooler
from firth.layers.relative_bucket_bias import RelativeBucketBias
from firth.layers.relative_shift import relative_shift, relative_shift_at
from firth.layers.relative_sinusoids import relative_sinusoids
from firth.layers.rotary_positions import RotaryPositions, rotate
from firth.layers.sampled_softmax import draw_candidates, sampled_cross_entropy
from firth.layers.scalar_mix import ScalarMix
from firth.layers.sinusoidal_positions import SinusoidalPositions
from firth.layers.span_boundary_head import SpanBoundaryHead
from firth.layers.tied_projection import tied_projection
from firth.layers.transformer_block import TransformerBlock
from firth.layers.two_stream_attention import TwoStreamAttention
from firth.layers.two_stream_block import TwoStreamBlock
from firth.layers.two_stream_transformer import TwoStreamTransformer

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
