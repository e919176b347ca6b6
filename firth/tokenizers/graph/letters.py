"""Lower case and marks of each character, as a table that is frozen with the package.

The table was read off Hugging Face's normalisers `Lowercase` and `StripAccents`, so that ids do not depend on
a library's version of Unicode.
"""

import functools
import json
import pathlib
from typing import Any

_FILE = pathlib.Path(__file__).with_name("letters.json")


@functools.lru_cache(maxsize=1)
def _table() -> dict[str, Any]:
    return json.loads(_FILE.read_text(encoding="utf-8"))


def lowercase() -> dict[int, str]:
    """Returns the lower case of each character that has one; each by itself, whatever stands next to it.

    Example:

    >>> lowercase()[ord("Σ")], ord("a") in lowercase()
    ('σ', False)
    """
    return {ord(source): target for target, text in _table()["lowercase"].items() for source in text}


def strip_accents() -> dict[int, str]:
    """Returns an empty text for each mark: what goes with the letter before it, such as an accent.

    Example:

    >>> strip_accents()[0x301], ord("é") in strip_accents()
    ('', False)
    """
    return {point: "" for first, last in _table()["marks"] for point in range(first, last + 1)}
