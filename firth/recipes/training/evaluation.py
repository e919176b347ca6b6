"""How the model is judged, and what it must reach to be blessed."""

from typing import Literal

import pydantic

from firth.recipes.base.recipe_type import Config

MetricName = Literal[
    "mlm_perplexity",
    "mlm_accuracy",
    "lm_perplexity",
    "lm_accuracy",
    "sbo_perplexity",
    "sbo_accuracy",
    "nsp_accuracy",
    "sop_accuracy",
    "rtd_accuracy",
    "text_perplexity",
    "unigram_perplexity",
    "perplexity_over_unigram",
    "bits_per_byte",
]


class Threshold(Config):
    """Bounds that one metric, over the whole eval split, must keep.

    Attributes:
        metric: The metric's name.
        lower_bound: The smallest value that is accepted; null for none.
        upper_bound: The largest value that is accepted; null for none.
    """

    metric: MetricName
    lower_bound: float | None = None
    upper_bound: float | None = None

    @pydantic.model_validator(mode="after")
    def _bounds_something(self):
        if self.lower_bound is None and self.upper_bound is None:
            raise ValueError(f"the threshold of {self.metric} has neither lower_bound nor upper_bound")
        return self


class Evaluation(Config):
    """Metrics over the eval split, exact because they come from per-example sums.

    `text_perplexity` is that of the objective's main loss (masked LM, or LM) on the predicted tokens that
    stand for text, sentinels and other special tokens aside; `perplexity_over_unigram` is that over the
    perplexity of the training split's unigram distribution on the same tokens, and `bits_per_byte` that loss
    in bits over their UTF-8 bytes.

    Attributes:
        batch_size: Rows that are evaluated together.
        thresholds: Bounds that the model must keep to be blessed. Without any, it is blessed if every metric
            is a finite number.
    """

    batch_size: int = pydantic.Field(default=32, ge=1)
    thresholds: tuple[Threshold, ...] = (Threshold(metric="perplexity_over_unigram", upper_bound=1.0),)
