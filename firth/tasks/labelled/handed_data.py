"""Labelled data that a command has read to complete a recipe, handed down to the run's component."""

import contextlib
import dataclasses
from collections.abc import Iterator

from firth.recipes.tasks.data import AnyLabelledData
from firth.recipes.tasks.tasks import AnyTask
from firth.tasks.labelled.data import LabelledData, read_labelled_data


@dataclasses.dataclass
class HandedData:
    """Labelled data as they were read.

    Attributes:
        fingerprint: Result of `firth.tasks.labelled.data.fingerprint` before they were read.
        task: The task that they were read for, with the values that follow from them, as JSON.
        found: The data; None when they are taken, so that their memory is free.
    """

    fingerprint: str
    task: str
    found: LabelledData | None


_handed: list[HandedData] = []


@contextlib.contextmanager
def handing_down(data: HandedData | None) -> Iterator[None]:
    """Hands data to `read_or_take` in the block."""
    _handed[:] = [] if data is None else [data]
    try:
        yield
    finally:
        forget_handed()


def forget_handed() -> None:
    """Frees the memory of data that nobody takes any more."""
    while _handed:
        _handed.pop().found = None


def read_or_take(data: AnyLabelledData, task: AnyTask, fingerprint: str) -> LabelledData:
    """Returns the labelled data of a recipe: those that are handed down, or if they are others, read anew."""
    wanted = (fingerprint, task.to_json())
    taken = next((each.found for each in _handed if (each.fingerprint, each.task) == wanted), None)
    forget_handed()
    return taken or read_labelled_data(data, task)
