"""Which class builds which kind of backbone and head that a recipe may name."""

from typing import Any

from firth.models.bidirectional_lm_heads import BidirectionalLMHeads
from firth.models.bilstm import BiLSTMBackbone
from firth.models.causal_transformer import CausalTransformerBackbone
from firth.models.encoder_decoder import EncoderDecoderBackbone
from firth.models.language_model_heads import LanguageModelHeads
from firth.models.masked_lm_heads import MaskedLMHeads
from firth.models.masked_transformer import MaskedTransformerBackbone
from firth.models.permutation_lm_heads import PermutationLMHeads
from firth.models.replaced_token_detection_heads import ReplacedTokenDetectionHeads
from firth.models.span_masking_heads import SpanMaskingHeads
from firth.models.task_heads.choices import ChoicesHeads
from firth.models.task_heads.contrastive import ContrastiveHeads
from firth.models.task_heads.mixed_tags import MixedTagsHeads
from firth.models.task_heads.mixed_texts import MixedTextsHeads
from firth.models.task_heads.pooled import PooledHeads
from firth.models.task_heads.pooled_language_model import PooledLanguageModelHeads
from firth.models.task_heads.spans import SpansHeads
from firth.models.task_heads.tokens import TokensHeads
from firth.models.two_stream_transformer import TwoStreamTransformerBackbone

# By `recipe.model.kind`.
BACKBONES: dict[str, Any] = {
    "masked_transformer": MaskedTransformerBackbone,
    "causal_transformer": CausalTransformerBackbone,
    "encoder_decoder": EncoderDecoderBackbone,
    "two_stream_transformer": TwoStreamTransformerBackbone,
    "bilstm": BiLSTMBackbone,
}

# By `recipe.goal.heads`.
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
