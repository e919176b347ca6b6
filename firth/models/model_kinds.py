"""Tables of the classes of backbones and heads, by their kinds in a recipe."""

from typing import Any

from firth.models.backbones.bilstm import BiLSTMBackbone
from firth.models.backbones.causal_transformer import CausalTransformerBackbone
from firth.models.backbones.encoder_decoder import EncoderDecoderBackbone
from firth.models.backbones.masked_transformer import MaskedTransformerBackbone
from firth.models.backbones.two_stream_transformer import TwoStreamTransformerBackbone
from firth.models.objective_heads.bidirectional_lm import BidirectionalLMHeads
from firth.models.objective_heads.language_model import LanguageModelHeads
from firth.models.objective_heads.masked_lm import MaskedLMHeads
from firth.models.objective_heads.permutation_lm import PermutationLMHeads
from firth.models.objective_heads.replaced_token_detection import ReplacedTokenDetectionHeads
from firth.models.objective_heads.span_masking import SpanMaskingHeads
from firth.models.task_heads.contrastive import ContrastiveHeads
from firth.models.task_heads.mixed_layers import MixedTagsHeads, MixedTextsHeads
from firth.models.task_heads.pooled import ChoicesHeads, PooledHeads, PooledLanguageModelHeads
from firth.models.task_heads.spans import SpansHeads
from firth.models.task_heads.tokens import TokensHeads

BACKBONES: dict[str, Any] = {
    "masked_transformer": MaskedTransformerBackbone,
    "causal_transformer": CausalTransformerBackbone,
    "encoder_decoder": EncoderDecoderBackbone,
    "two_stream_transformer": TwoStreamTransformerBackbone,
    "bilstm": BiLSTMBackbone,
}
"""Classes of the backbones, by `recipe.model.kind`."""

HEADS: dict[str, Any] = {
    "masked_lm": MaskedLMHeads,
    "span_masking": SpanMaskingHeads,
    "replaced_token_detection": ReplacedTokenDetectionHeads,
    "permutation_lm": PermutationLMHeads,
    "language_model": LanguageModelHeads,
    "bidirectional_lm": BidirectionalLMHeads,
    "contrastive": ContrastiveHeads,
    "pooled": PooledHeads,
    "pooled_language_model": PooledLanguageModelHeads,
    "tokens": TokensHeads,
    "mixed_texts": MixedTextsHeads,
    "mixed_tags": MixedTagsHeads,
    "spans": SpansHeads,
    "choices": ChoicesHeads,
}
"""Classes of the heads, by `recipe.goal.heads`."""
