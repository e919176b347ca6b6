from .attention.attention import Attention as Attention
from .attention.disentangled_attention import DisentangledAttention as DisentangledAttention
from .attention.fused_kernel import enable_flash_attention as enable_flash_attention
from .attention.two_stream_attention import TwoStreamAttention as TwoStreamAttention
from .bilstm import BiLSTM as BiLSTM
from .blocks.causal_transformer import CausalTransformer as CausalTransformer
from .blocks.feed_forward import FeedForward as FeedForward
from .blocks.input_embedding import InputEmbedding as InputEmbedding
from .blocks.masked_transformer import MaskedTransformer as MaskedTransformer
from .blocks.scalar_mix import ScalarMix as ScalarMix
from .blocks.transformer_block import TransformerBlock as TransformerBlock
from .blocks.two_stream_transformer import (
    TwoStreamBlock as TwoStreamBlock,
    TwoStreamTransformer as TwoStreamTransformer,
)
from .char_cnn import CharCNN as CharCNN, Highway as Highway
from .chunked_losses import chunked_cross_entropy as chunked_cross_entropy
from .elements.configs import StackConfig as StackConfig
from .elements.dropout import Dropout as Dropout
from .elements.embedding import Embedding as Embedding
from .heads.bert_heads import MaskedLMHead as MaskedLMHead, NextSentenceHead as NextSentenceHead
from .heads.linear_chain_crf import LinearChainCRF as LinearChainCRF
from .heads.pooling import AttentionPooling as AttentionPooling, Pooler as Pooler
from .heads.span_boundary_head import SpanBoundaryHead as SpanBoundaryHead
from .losses import cross_entropy as cross_entropy, sampled_cross_entropy as sampled_cross_entropy
from .lstm import LSTM as LSTM
from .positions.disentangled_positions import DisentangledPositions as DisentangledPositions
from .positions.relative_bucket_bias import RelativeBucketBias as RelativeBucketBias
from .positions.rotary_positions import RotaryPositions as RotaryPositions
from .positions.sinusoidal_positions import SinusoidalPositions as SinusoidalPositions
