"""Lists of items, of about the same size or of the same key."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")
Key = TypeVar("Key")


def split_into_batches(
    items: Iterable[Item], limit: int, size: Callable[[Item], int] = lambda item: 1
) -> Iterator[list[Item]]:
    """Yields the items in lists, each of which ends when the sizes of its items add up to `limit` or more.

    The last list holds the items that are left. It may be empty.

    Example:

    >>> list(split_into_batches("abcd", 2)), list(split_into_batches(["ab", "c", "d"], 2, len))
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


def group_by_key(items: Iterable[Item], key: Callable[[Item], Key]) -> dict[Key, list[Item]]:
    """Returns the items in lists by key; keys and items keep their order.

    Example:

    >>> group_by_key(["ab", "c", "de"], len)
    {2: ['ab', 'de'], 1: ['c']}
    """
    found: dict[Key, list[Item]] = {}
    for item in items:
        found.setdefault(key(item), []).append(item)
    return found
