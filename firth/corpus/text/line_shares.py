"""Lines of a text, and which of them are repeated."""

from collections import Counter
from collections.abc import Iterable, Sequence

ELLIPSES = ("...", "…")


def stripped_lines(text: str) -> list[str]:
    r"""Returns the lines that are not blank, without white space at their ends.

    Example:

    >>> stripped_lines("one\n \n two ")
    ['one', 'two']
    """
    return [line for line in map(str.strip, text.split("\n")) if line]


def duplicates(parts: Sequence[str]) -> list[str]:
    """Returns the parts that repeat an earlier one, in no particular order.

    Example:

    >>> duplicates(["a", "b", "a", "a"])
    ['a', 'a']
    """
    counts = Counter(parts)
    return [part for part in counts for _ in range(counts[part] - 1)] if len(counts) < len(parts) else []


def characters(parts: Iterable[str]) -> int:
    """Returns the total number of characters in the parts."""
    return sum(map(len, parts))
