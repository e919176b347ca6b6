"""The scores that a model of a task is judged by."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from firth.recipes.goals.goal import HIGH, LOW


class HeldOutScore(NamedTuple):
    """A score of the held-out records.

    Attributes:
        name: Name of the score.
        value: Value.
        low: Lower end of its interval; None without an interval.
        high: Upper end.
    """

    name: str
    value: float
    low: float | None
    high: float | None

    @property
    def text(self) -> str:
        """The score with its interval.

        Example:

        >>> HeldOutScore("accuracy", 0.9, 0.85, 0.94).text, HeldOutScore("f1", 0.5, None, None).text
        ('accuracy: 0.900 (0.850 to 0.940)', 'f1: 0.500')
        """
        interval = "" if self.low is None or self.high is None else f" ({self.low:.3f} to {self.high:.3f})"
        return f"{self.name}: {self.value:.3f}{interval}"


def held_out_scores(metrics: Mapping[str, float], names: Sequence[str]) -> list[HeldOutScore]:
    """Returns the scores that were measured, in the order of their names.

    Example:

    >>> held_out_scores({"f1": 0.5, "accuracy": 0.9}, ["accuracy", "f1", "matthews"])[0].value
    0.9
    """
    return [
        HeldOutScore(name, metrics[name], metrics.get(name + LOW), metrics.get(name + HIGH))
        for name in names
        if name in metrics
    ]
