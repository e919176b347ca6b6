"""The objective of permutation language models."""

from typing import ClassVar, Literal

import pydantic

from firth.recipes.goals.frames import CLS_SEGMENT, TextFrame
from firth.recipes.models.blocks import Count
from firth.recipes.objectives.objective_base import Objective


class PermutationLM(Objective):
    """Predict the last tokens of a random order from those before them (Yang et al. 2019, "XLNet").

    Each document is `A [SEP] B [SEP] [CLS]`, special tokens first in the order and never predicted.
    """

    model_architecture: ClassVar[str] = "two_streams"
    heads: ClassVar[str] = "permutation_lm"

    # Two `[SEP]` and `[CLS]`.
    special_tokens: ClassVar[int] = 3
    # The text, `[SEP]`, and `[CLS]` in a segment of its own.
    text_frame: ClassVar[TextFrame] = TextFrame((), ("sep", "cls"), last_segment=CLS_SEGMENT)
    kind: Literal["permutation_lm"] = "permutation_lm"
    predicted_fraction: float = pydantic.Field(default=1 / 6, gt=0.0, lt=1.0)
    """Share of maskable tokens that is predicted, 1/K in the paper."""
    max_predictions: Count = 22
    """Most predicted tokens of a row; no more are selected."""
    max_span: Count = 5
    """Longest span of predicted tokens; lengths are drawn uniformly from 1 to this."""

    @property
    def predictions(self) -> int:
        """The most predictions of a row."""
        return self.max_predictions
