"""Units of a text's size, and the names of features that hold it."""

from collections.abc import Iterable

BYTES, WORDS = "bytes", "words"
SIZE_UNITS = (BYTES, WORDS)


def size_features(names: Iterable[str]) -> tuple[str, ...]:
    """Returns the names of the features that hold the sizes of texts.

    Example:

    >>> size_features(["text", "pair"])
    ('text/bytes', 'text/words', 'pair/bytes', 'pair/words')
    """
    return tuple(f"{name}/{unit}" for name in names for unit in SIZE_UNITS)
