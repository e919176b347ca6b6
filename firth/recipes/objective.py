"""What the model learns to predict."""

from typing import Literal

import pydantic

from firth.recipes.base import Config
from firth.recipes.cleaning import Fraction


class MaskedLM(Config):
    """Masked LM, with next sentence prediction if asked (Devlin et al. 2018, section 3.1).

    Attributes:
        mask_rate: Share of maskable tokens that are predicted.
        mask_token_rate: Of the predicted ones, the share that is replaced by `[MASK]`.
        random_token_rate: Of the predicted ones, the share that is replaced by a random piece.
            The rest is left as it was, and still predicted.
        max_predictions: Of a row; more are not selected.
        whole_word: Select whole words instead of pieces.
        paper_exact: Draw random replacements from the whole vocabulary, special pieces included, as the
            reference code does.
        next_sentence: Also learn whether the second segment follows the first.
        random_next_rate: Share of pairs whose second segment comes from another document.
    """

    kind: Literal["masked_lm"] = "masked_lm"
    mask_rate: float = pydantic.Field(default=0.15, gt=0.0, lt=1.0)
    mask_token_rate: Fraction = 0.8
    random_token_rate: Fraction = 0.1
    max_predictions: int = pydantic.Field(default=20, ge=1)
    whole_word: bool = False
    paper_exact: bool = False
    next_sentence: bool = True
    random_next_rate: Fraction = 0.5

    @pydantic.model_validator(mode="after")
    def _rates_fit(self):
        if self.mask_token_rate + self.random_token_rate > 1.0 + 1e-9:
            raise ValueError("mask_token_rate + random_token_rate is above 1")
        return self

    @property
    def special_tokens(self) -> int:
        """Special tokens that this objective adds to each document of a row."""
        return 3 if self.next_sentence else 2
