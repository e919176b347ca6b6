"""Examples by their source, their length or their label, so that each part has a score of its own."""

import bisect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from firth.recipes.base.errors import suggest
from firth.scores.collected_scores import Collected, ScoreValue, compute
from firth.scores.inputs import label_type

# Greatest lengths of the slices by length; the last slice has the longer ones.
LENGTHS = (16, 32, 64, 128, 256, 512)
UNKNOWN = "unknown"


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
