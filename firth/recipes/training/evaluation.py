"""Settings of the evaluation, and the thresholds for a blessing."""

from typing import ClassVar

import pydantic

from firth.recipes.base.recipe_type import Config


class Threshold(Config):
    """Bounds that one metric, over the whole eval split, must keep."""

    metric: str
    """Name of the metric: a perplexity of a loss over the vocabulary, such as `mlm_perplexity`, an accuracy
    of a loss, the squared error of a number, or `text_perplexity`, `unigram_perplexity`,
    `perplexity_over_unigram` or `bits_per_byte`; of a task also its scores, such as `f1`, and the ends of
    their intervals, such as `f1_low`."""
    lower_bound: float | None = None
    """Least value that is blessed; null for no such bound."""
    upper_bound: float | None = None
    """Largest value that is blessed; null for no such bound."""

    @pydantic.model_validator(mode="after")
    def _bounds_something(self) -> "Threshold":
        if self.lower_bound is None and self.upper_bound is None:
            raise ValueError(f"the threshold of {self.metric} has neither lower_bound nor upper_bound")
        return self


class Evaluation(Config):
    """Metrics over the eval split, exact because they are computed from per-example sums.

    `text_perplexity` is the perplexity of the objective's main loss (masked LM, or LM) on the predicted
    tokens that stand for text, without sentinels and other special tokens. `perplexity_over_unigram` is that
    over the perplexity of the training split's unigram distribution on the same tokens, and `bits_per_byte`
    is that loss in bits over the UTF-8 bytes of these tokens.
    """

    compares_with_constant: ClassVar[bool] = False
    """True if a model has to be better than the best constant answer: here it has thresholds."""

    batch_size: int = pydantic.Field(default=32, ge=1)
    """Rows of a batch."""
    thresholds: tuple[Threshold, ...] = (Threshold(metric="perplexity_over_unigram", upper_bound=1.0),)
    """Bounds of metrics. A model that breaks one is not pushed."""


class TaskEvaluation(Evaluation):
    """Metrics of a model of a task over the held-out records."""

    thresholds: tuple[Threshold, ...] = ()
    beats_constant: bool = True
    """True if a model of a task without thresholds has to be better than the best constant answer to be
    pushed: the most frequent class, all `O`, the first sentences of a text. The first score of both is
    compared on the same held-out records, by the 95% interval of the difference; by the values alone where
    the records are so few that right answers would not be better either. A dialogue, which has no score, is
    compared with the unigram distribution. False requires of each metric only that it is a finite number."""

    @property
    def compares_with_constant(self) -> bool:  # type: ignore[override]
        """True if a model has to be better than a constant answer: `beats_constant` without thresholds."""
        return self.beats_constant and not self.thresholds
