"""Losses, each with its title and the number of its answers."""

import dataclasses
import math


@dataclasses.dataclass(frozen=True)
class Loss:
    """One cross entropy, or squared error, that a model is trained by.

    Attributes:
        name: Its name in features, metrics and histories.
        title: Its name for people.
        classes: The number of answers to choose from; None for the whole vocabulary; 1 for a number, whose
            loss is the squared error.
        weight: Its weight in the sum that is minimised.
        varies: Whether examples differ in the number of their answers; `classes` is the least then.
    """

    name: str
    title: str
    classes: int | None = None
    weight: float = 1.0
    varies: bool = False

    @property
    def metric_names(self) -> tuple[str, ...]:
        """The names of its metrics: a perplexity if it runs over the vocabulary, and an accuracy; of a number
        the squared error alone.

        Example:

        >>> NSP.metric_names, LM.metric_names, Loss(name="value", title="error", classes=1).metric_names
        (('nsp_accuracy',), ('lm_perplexity', 'lm_accuracy'), ('value_squared_error',))
        """
        if self.is_number:
            return (f"{self.name}_squared_error",)
        accuracy = f"{self.name}_accuracy"
        return (accuracy,) if self.classes else (f"{self.name}_perplexity", accuracy)

    @property
    def is_number(self) -> bool:
        """True if it is the squared error of a number."""
        return self.classes == 1

    @property
    def quantity(self) -> str:
        """The name of its values on an axis."""
        return "squared error" if self.is_number else "loss in nats"

    @property
    def guessing(self) -> float | None:
        """The loss of a guess among its answers, in nats; None over the vocabulary, of a number, and where
        their number differs.
        """
        return None if self.is_number or self.varies or not self.classes else math.log(self.classes)

    def weighing(self, weight: float) -> "Loss":
        """Returns the same loss with another weight."""
        return dataclasses.replace(self, weight=weight)


LM = Loss("lm", "LM")
MLM = Loss("mlm", "masked LM")
NSP = Loss("nsp", "next sentence prediction", classes=2)
SOP = Loss("sop", "sentence order prediction", classes=2)
