"""The type of a score: what it is called, what it takes, what it can be, and how it adds up."""

import dataclasses
import importlib.metadata
from collections.abc import Callable, Sequence
from typing import Any

from firth.scores.inputs import Ints


@dataclasses.dataclass(frozen=True)
class Inputs:
    """What the reference and the prediction of one example are.

    Attributes:
        name: Name of both; tasks say which they have.
        reference: The reference, in words.
        prediction: The prediction, in words.
        right: From a reference to a prediction that is right; None where no prediction follows from it.
        of_answer: From an answer, as tasks name constant ones, to a prediction.
    """

    name: str
    reference: str
    prediction: str
    right: Callable[[Any], Any] | None = None
    of_answer: Callable[[Any], Any] = lambda answer: answer


@dataclasses.dataclass(frozen=True)
class Score:
    """A published score of a set of examples.

    Attributes:
        title: Name for tables.
        function: Score of references and predictions, and of options by name.
        inputs: What references and predictions are.
        range: Least and greatest value.
        implementation: Distribution that computes it; empty for our own.
        greater_is_better: Whether a greater value is better.
        of_one: Value of one reference and one prediction, where the score is the mean of it over examples:
            sums and counts add up over workers, and intervals need no further call. None where the whole set
            is needed.
        of_nothing: Value of no examples.
        of_places: From references, predictions and options to a function of the places of some examples,
            which has the score's value of them: fast, for many resamples; None to call `function` for each.
        needs_variety: Whether it is defined only where references differ from each other, and predictions do.
        of_summaries: Whether it is a score of summaries, whose baseline is Lead-3; see `firth.scores.rouge`.
        of_chance: Value of answers by chance, from references, where no constant answer has a value; None
            where one has, or nothing is known.
        signature_of: What was computed, from references and options; None for the implementation's version
            and the options.
    """

    title: str
    function: Callable[..., float]
    inputs: Inputs
    range: tuple[float, float]
    implementation: str
    greater_is_better: bool = True
    of_one: Callable[..., float] | None = None
    of_nothing: float = 0.0
    of_places: Callable[..., Callable[[Ints], float]] | None = None
    needs_variety: bool = False
    of_summaries: bool = False
    of_chance: Callable[[Sequence[Any]], float] | None = None
    signature_of: Callable[..., str] | None = None

    @property
    def best(self) -> float:
        """The value of a perfect prediction."""
        return self.range[1] if self.greater_is_better else self.range[0]

    @property
    def worst(self) -> float:
        """The value of predictions that could not be worse."""
        return self.range[0] if self.greater_is_better else self.range[1]

    def is_defined(self, references: Sequence[Any], predictions: Sequence[Any]) -> bool:
        """Returns whether its formula has a value: a correlation with a constant has none.

        Where it has none, the function gives 0, as its implementation does.

        Args:
            references: References of the examples.
            predictions: Predictions of the examples.
        """
        if not references:
            return False
        return not self.needs_variety or all(_differ(each) for each in (references, predictions))

    def signature(self, references: Sequence[Any], **options: Any) -> str:
        """Returns how a value was computed, which is kept next to it.

        Args:
            references: References of the examples.
            **options: Options of the score's function.
        """
        if self.signature_of is not None:
            return self.signature_of(references, **options)
        named = (f"{name}:{value}" for name, value in sorted(options.items()))
        return "|".join([self._implementation_and_version, *named])

    @property
    def _implementation_and_version(self) -> str:
        if not self.implementation:
            return "firth"
        return f"{self.implementation}:{importlib.metadata.version(self.implementation)}"


def _differ(values: Sequence[Any]) -> bool:
    return any(each != values[0] for each in values)
