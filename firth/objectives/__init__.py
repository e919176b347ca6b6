"""Pre-training objectives: pure functions from raw tokens and a seed to Features.

Example:

>>> from firth.objectives import OBJECTIVES
>>> sorted(OBJECTIVES)
['denoising', 'iid_denoising', 'masked_lm', 'salient_spans', 'span_corruption']
"""

from firth.objectives.denoising import DenoisingObjective
from firth.objectives.iid_denoising import IidDenoisingObjective
from firth.objectives.masked_lm import MaskedLMObjective
from firth.objectives.rates import measure_rates
from firth.objectives.salient_spans import SalientSpansObjective
from firth.objectives.span_corruption import SpanCorruptionObjective

OBJECTIVES = {
    "masked_lm": MaskedLMObjective,
    "span_corruption": SpanCorruptionObjective,
    "iid_denoising": IidDenoisingObjective,
    "salient_spans": SalientSpansObjective,
    "denoising": DenoisingObjective,
}

__all__ = [
    "OBJECTIVES",
    "DenoisingObjective",
    "IidDenoisingObjective",
    "MaskedLMObjective",
    "SalientSpansObjective",
    "SpanCorruptionObjective",
    "measure_rates",
]
