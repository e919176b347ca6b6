"""Scores of collected examples, from a loop or a pipeline, of all or by source, length or label."""

import bisect
import dataclasses
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from firth.recipes.base.errors import suggest
from firth.scores.bootstrap import LEVEL, RESAMPLES, Interval, Resampling
from firth.scores.inputs import Ints, finite_numbers, label_type
from firth.scores.score_table import SCORES, Score

# Greatest lengths of the slices by length; the last slice has the longer ones.
LENGTHS = (16, 32, 64, 128, 256, 512)
UNKNOWN = "unknown"


@dataclasses.dataclass(frozen=True)
class Collected:
    """An example with its reference and its prediction.

    Attributes:
        id: Id of the example.
        reference: What is right, as the score's `inputs` say.
        prediction: What was predicted.
        source: Name of the source that the example is from.
        length: Length of its text, in words or pieces; None if it is not known.
    """

    id: str
    reference: Any
    prediction: Any
    source: str = ""
    length: int | None = None


class ScoreValue(NamedTuple):
    """A score with the facts that a comparison needs.

    Attributes:
        name: Name of the score, a key of `SCORES`.
        value: Value.
        examples: Number of examples.
        signature: How it was computed: sacrebleu's signature of BLEU, else the implementation with its
            version, and options.
    """

    name: str
    value: float
    examples: int
    signature: str


def collect(references: Mapping[str, Any], predictions: Mapping[str, Any]) -> list[Collected]:
    """Returns examples in the order of their ids.

    Args:
        references: References by the examples' ids.
        predictions: Predictions by the examples' ids.

    Raises:
        ValueError: if an example has no prediction, which is not skipped, or a prediction no example.

    Example:

    >>> collect({"a": "yes"}, {})
    Traceback (most recent call last):
        ...
    ValueError: 1 of 1 examples have no prediction, the first is 'a'
    """
    missing = sorted(references.keys() - predictions.keys())
    if missing:
        raise ValueError(
            f"{len(missing)} of {len(references)} examples have no prediction, the first is {missing[0]!r}"
        )
    unknown = sorted(predictions.keys() - references.keys())
    if unknown:
        raise ValueError(
            f"{len(unknown)} of {len(predictions)} predictions are of no example, the first is {unknown[0]!r}"
        )
    return [Collected(each, references[each], predictions[each]) for each in sorted(references)]


def compute(name: str, examples: Sequence[Collected], **options: Any) -> ScoreValue:
    """Returns a score of examples, whatever their order.

    Args:
        name: Key of `SCORES`.
        examples: Examples with different ids.
        **options: Options of the score, such as `positive` of F1.

    Raises:
        ValueError: for an unknown name, for two examples of one id, or as the score's function says.

    Example:

    >>> compute("accuracy", [Collected("a", "yes", "yes"), Collected("b", "no", "yes")]).value
    0.5
    """
    score = score_of(name)
    references, predictions = _columns(examples)
    value = score.function(references, predictions, **options)
    return ScoreValue(name, value, len(examples), score.signature(references, **options))


def compute_interval(
    name: str,
    examples: Sequence[Collected],
    *,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    seed: int = 0,
    **options: Any,
) -> Interval:
    """Returns a score of examples with its interval; of no examples, the whole range.

    Args:
        name: Key of `SCORES`.
        examples: Examples with different ids.
        level: Share of resamples within the interval.
        resamples: Number of resamples.
        seed: Seed of the resamples.
        **options: Options of the score.

    Raises:
        ValueError: as of `compute`.
    """
    value = compute(name, examples, **options).value
    if not examples:
        return Interval(value, *score_of(name).range)
    value_of = value_of_places(name, examples, **options)
    return Resampling(level, resamples, seed).interval(len(examples), value_of)._replace(value=value)


def value_of_places(name: str, examples: Sequence[Collected], **options: Any) -> Callable[[Ints], float]:
    """Returns a score as a function of the places of some examples, in the order of their ids.

    Args:
        name: Key of `SCORES`.
        examples: Examples with different ids, one or more.
        **options: Options of the score.

    Raises:
        ValueError: as of `compute`.

    Example:

    >>> import numpy as np
    >>> examples = [Collected("a", "yes", "yes"), Collected("b", "no", "yes")]
    >>> value_of_places("accuracy", examples)(np.array([0, 0, 1, 0]))
    0.75
    """
    score = score_of(name)
    references, predictions = _columns(examples)
    if score.of_one is not None:
        pairs = zip(references, predictions)
        values = finite_numbers([score.of_one(*pair, **options) for pair in pairs], "value of example")
        return lambda places: float(values[places].mean())
    if score.of_places is not None:
        return score.of_places(references, predictions, **options)
    return lambda places: score.function(
        [references[place] for place in places], [predictions[place] for place in places], **options
    )


def compute_difference(
    name: str,
    examples: Sequence[Collected],
    other_examples: Sequence[Collected],
    *,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    seed: int = 0,
    **options: Any,
) -> Interval:
    """Returns the score of one system less that of another on the same examples, with its interval.

    Args:
        name: Key of `SCORES`.
        examples: Examples with what the one system predicted.
        other_examples: The same examples with what the other predicted.
        level: Share of resamples within the interval.
        resamples: Number of resamples.
        seed: Seed of the resamples.
        **options: Options of the score.

    Raises:
        ValueError: if ids or references differ, or as of `compute`.
    """
    compute(name, examples, **options)
    compute(name, other_examples, **options)
    same_ids = {each.id for each in examples} == {each.id for each in other_examples}
    if not same_ids or _columns(examples)[0] != _columns(other_examples)[0]:
        raise ValueError("the two systems were not scored on the same examples")
    one, other = (value_of_places(name, each, **options) for each in (examples, other_examples))
    how = Resampling(level, resamples, seed)
    return how.interval(len(examples), lambda places: one(places) - other(places))


def score_of(name: str) -> Score:
    """Returns a score by its name.

    Args:
        name: Key of `SCORES`, perhaps after the name of a source and a point, whose records it is of.

    Raises:
        ValueError: for an unknown name, with the nearest.

    Example:

    >>> score_of("acuracy")
    Traceback (most recent call last):
        ...
    ValueError: unknown score 'acuracy'; did you mean accuracy?
    """
    key = name.rpartition(".")[2]
    if key not in SCORES:
        raise ValueError(f"unknown score {name!r}; {suggest(key, SCORES)}")
    return SCORES[key]


def _columns(examples: Sequence[Collected]) -> tuple[list[Any], list[Any]]:
    ordered = sorted(examples, key=lambda each: each.id)
    for before, after in itertools.pairwise(ordered):
        if before.id == after.id:
            raise ValueError(f"two examples have the id {after.id!r}")
    return [each.reference for each in ordered], [each.prediction for each in ordered]


def source_slice(example: Collected) -> str:
    """Returns the name of an example's source; `unknown` if it has none."""
    return example.source or UNKNOWN


def length_slice(example: Collected) -> str:
    """Returns the range of lengths that an example is in; `unknown` if its length is not known.

    Example:

    >>> [length_slice(Collected("a", 1, 1, length=length)) for length in (0, 16, 17, 513, None)]
    ['0-16', '0-16', '17-32', '513 and more', 'unknown']
    """
    if example.length is None:
        return UNKNOWN
    if example.length < 0:
        raise ValueError(f"the example {example.id!r} has the length {example.length}")
    place = bisect.bisect_left(LENGTHS, example.length)
    low = LENGTHS[place - 1] + 1 if place else 0
    return f"{low}-{LENGTHS[place]}" if place < len(LENGTHS) else f"{low} and more"


def label_slice(example: Collected) -> str:
    """Returns the label of an example, by its reference."""
    try:
        label_type(example.reference)
    except ValueError as error:
        raise ValueError(f"the reference of {example.id!r} is not a label: {error}") from error
    return str(example.reference)


SLICES: dict[str, Callable[[Collected], str]] = {
    "source": source_slice,
    "length": length_slice,
    "label": label_slice,
}
"""Functions from an example to the name of its slice, by the property that examples are divided by."""


def sliced(by: str, examples: Sequence[Collected]) -> Mapping[str, list[Collected]]:
    """Returns the examples of each slice, in the order of the slices' first examples.

    Args:
        by: Key of `SLICES`.
        examples: Examples.

    Raises:
        ValueError: for an unknown key, with the nearest; or as the slice says.
    """
    if by not in SLICES:
        raise ValueError(f"examples cannot be sliced by {by!r}; {suggest(by, SLICES)}")
    found: dict[str, list[Collected]] = {}
    for example in examples:
        found.setdefault(SLICES[by](example), []).append(example)
    return found


def compute_slices(
    name: str, by: str, examples: Sequence[Collected], **options: Any
) -> dict[str, ScoreValue]:
    """Returns a score of each slice.

    Args:
        name: Key of `SCORES`.
        by: Key of `SLICES`.
        examples: Examples with different ids.
        **options: Options of the score.

    Raises:
        ValueError: as of `sliced` and `compute`.

    Example:

    >>> examples = [Collected("a", "yes", "yes"), Collected("b", "no", "yes")]
    >>> {name: score.value for name, score in compute_slices("accuracy", "label", examples).items()}
    {'yes': 1.0, 'no': 0.0}
    """
    return {each: compute(name, part, **options) for each, part in sliced(by, examples).items()}
