"""Pre-training objectives: pure functions from raw tokens and a seed to Features.

Example:

>>> from firth.objectives import OBJECTIVES
>>> print(*OBJECTIVES)
masked_lm span_masking replaced_token_detection unilm permutation_lm causal_lm prefix_lm bidirectional_lm
    span_corruption iid_denoising salient_spans denoising
"""

from firth.lazy import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
