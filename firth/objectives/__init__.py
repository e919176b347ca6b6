"""Pre-training objectives: pure functions from raw tokens and a seed to Features.

Example:

>>> from firth.objectives import OBJECTIVES
>>> sorted(OBJECTIVES)
['masked_lm']
"""

from firth.objectives.masked_lm import MaskedLMObjective
from firth.objectives.rates import measure_rates

OBJECTIVES = {"masked_lm": MaskedLMObjective}

__all__ = ["OBJECTIVES", "MaskedLMObjective", "measure_rates"]
