"""Pre-training objectives: pure functions from raw tokens and a seed to Features.

Example:

>>> from firth.objectives import OBJECTIVES
>>> print(*OBJECTIVES)
masked_lm span_masking replaced_token_detection unilm permutation_lm causal_lm prefix_lm bidirectional_lm
    span_corruption iid_denoising salient_spans denoising
"""

from firth.objectives.bidirectional_lm import BidirectionalLMObjective
from firth.objectives.causal_lm import CausalLMObjective
from firth.objectives.denoising import DenoisingObjective
from firth.objectives.iid_denoising import IidDenoisingObjective
from firth.objectives.masked_lm import MaskedLMObjective
from firth.objectives.measured import measure_rates
from firth.objectives.permutation_lm import PermutationLMObjective
from firth.objectives.prefix_lm import PrefixLMObjective
from firth.objectives.replaced_token_detection import ReplacedTokenDetectionObjective
from firth.objectives.salient_spans import SalientSpansObjective
from firth.objectives.span_corruption import SpanCorruptionObjective
from firth.objectives.span_masking import SpanMaskingObjective
from firth.objectives.table import OBJECTIVES
from firth.objectives.unilm import UniLMObjective

__all__ = [
    "OBJECTIVES",
    "BidirectionalLMObjective",
    "CausalLMObjective",
    "DenoisingObjective",
    "IidDenoisingObjective",
    "MaskedLMObjective",
    "PermutationLMObjective",
    "PrefixLMObjective",
    "ReplacedTokenDetectionObjective",
    "SalientSpansObjective",
    "SpanCorruptionObjective",
    "SpanMaskingObjective",
    "UniLMObjective",
    "measure_rates",
]
