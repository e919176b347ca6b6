"""Items in lists of about one size."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")


def in_batches(
    items: Iterable[Item], limit: int, size: Callable[[Item], int] = lambda item: 1
) -> Iterator[list[Item]]:
    """Yields lists that end as soon as their items' sizes come to `limit`, and what is left, if only `[]`.

    Example:

    >>> list(in_batches("abcd", 2)), list(in_batches(["ab", "c", "d"], 2, len))
    ([['a', 'b'], ['c', 'd'], []], [['ab'], ['c', 'd'], []])
    """
    batch: list[Item] = []
    held = 0
    for item in items:
        batch.append(item)
        held += size(item)
        if held >= limit:
            yield batch
            batch, held = [], 0
    yield batch
