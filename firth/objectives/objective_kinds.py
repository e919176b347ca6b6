"""The objectives, by their kind in a recipe."""

from typing import Any

from firth.objectives.bidirectional_lm import BidirectionalLMObjective
from firth.objectives.causal_lm import CausalLMObjective
from firth.objectives.denoising import DenoisingObjective
from firth.objectives.iid_denoising import IidDenoisingObjective
from firth.objectives.masked_lm import MaskedLMObjective
from firth.objectives.permutation_lm import PermutationLMObjective
from firth.objectives.prefix_lm import PrefixLMObjective
from firth.objectives.replaced_token_detection import ReplacedTokenDetectionObjective
from firth.objectives.salient_spans import SalientSpansObjective
from firth.objectives.span_corruption import SpanCorruptionObjective
from firth.objectives.span_masking import SpanMaskingObjective
from firth.objectives.unilm import UniLMObjective

OBJECTIVES: dict[str, Any] = {
    "masked_lm": MaskedLMObjective,
    "span_masking": SpanMaskingObjective,
    "replaced_token_detection": ReplacedTokenDetectionObjective,
    "unilm": UniLMObjective,
    "permutation_lm": PermutationLMObjective,
    "causal_lm": CausalLMObjective,
    "prefix_lm": PrefixLMObjective,
    "bidirectional_lm": BidirectionalLMObjective,
    "span_corruption": SpanCorruptionObjective,
    "iid_denoising": IidDenoisingObjective,
    "salient_spans": SalientSpansObjective,
    "denoising": DenoisingObjective,
}
