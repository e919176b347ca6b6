"""Losses, each with its title and the number of its answers."""

import dataclasses
import math


@dataclasses.dataclass(frozen=True)
class Loss:
    """One cross entropy that a model is trained by.

    Attributes:
        name: Its name in features, metrics and histories.
        title: Its name for people.
        classes: The number of answers to choose from; None for the whole vocabulary.
        weight: Its weight in the sum that is minimised.
    """

    name: str
    title: str
    classes: int | None = None
    weight: float = 1.0

    @property
    def metric_names(self) -> tuple[str, ...]:
        """The names of its metrics: a perplexity if it runs over the vocabulary, and an accuracy.

        Example:

        >>> NSP.metric_names, LM.metric_names
        (('nsp_accuracy',), ('lm_perplexity', 'lm_accuracy'))
        """
        accuracy = f"{self.name}_accuracy"
        return (accuracy,) if self.classes else (f"{self.name}_perplexity", accuracy)

    @property
    def guessing(self) -> float | None:
        """The loss of a guess among its answers, in nats; None over the vocabulary."""
        return math.log(self.classes) if self.classes else None

    def weighing(self, weight: float) -> "Loss":
        """Returns the same loss with another weight.

        Args:
            weight: Weight in the sum.
        """
        return dataclasses.replace(self, weight=weight)


LM = Loss("lm", "LM")
MLM = Loss("mlm", "masked LM")
NSP = Loss("nsp", "next sentence prediction", classes=2)
SOP = Loss("sop", "sentence order prediction", classes=2)
