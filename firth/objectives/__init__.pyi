from .bidirectional_lm import BidirectionalLMObjective as BidirectionalLMObjective
from .causal_lm import CausalLMObjective as CausalLMObjective
from .denoising import DenoisingObjective as DenoisingObjective
from .masked_lm import MaskedLMObjective as MaskedLMObjective
from .objective_kinds import OBJECTIVES as OBJECTIVES, measure_rates as measure_rates
from .permutation_lm import PermutationLMObjective as PermutationLMObjective
from .prefix_lm import PrefixLMObjective as PrefixLMObjective
from .replaced_token_detection import ReplacedTokenDetectionObjective as ReplacedTokenDetectionObjective
from .salient_spans import SalientSpansObjective as SalientSpansObjective
from .span_corruption import (
    IidDenoisingObjective as IidDenoisingObjective,
    SpanCorruptionObjective as SpanCorruptionObjective,
)
from .span_masking import SpanMaskingObjective as SpanMaskingObjective
from .unilm import UniLMObjective as UniLMObjective
