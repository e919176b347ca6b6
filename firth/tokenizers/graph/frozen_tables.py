"""Tables of characters that are frozen with the package: ids do not depend on a version of Unicode."""

import bisect
import functools
import hashlib
import json
import pathlib
from typing import Any


@functools.cache
def read_table(name: str) -> dict[str, Any]:
    """Returns a table of this folder.

    Example:

    >>> sorted(read_table("split_classes"))
    ['letters', 'numbers', 'spaces']
    """
    return json.loads(pathlib.Path(__file__).with_name(f"{name}.json").read_text(encoding="utf-8"))


def lower_case_in(name: str) -> dict[int, str]:
    """Returns the lower case of each character that has one in a table, by code point.

    Example:

    >>> lower_case_in("letters")[ord("A")]
    'a'
    """
    return {ord(source): target for target, text in read_table(name)["lowercase"].items() for source in text}


@functools.cache
def table_digest(name: str) -> str:
    """Returns the SHA-256 of a table, in hex, a part of the digest of a tokenizer.

    Example:

    >>> len(table_digest("characters"))
    64
    """
    return hashlib.sha256(json.dumps(read_table(name), sort_keys=True).encode()).hexdigest()


@functools.lru_cache(maxsize=2**16)
def is_younger(character: str) -> bool:
    r"""Returns whether Unicode 9.0 does not have a character.

    Example:

    >>> is_younger("\u3300"), is_younger("\u32ff")
    (False, True)
    """
    if character.isascii():
        return False
    spans = read_table("unicode_9")["unassigned"]
    place = bisect.bisect_right(spans, [ord(character), 0x110000]) - 1
    return place >= 0 and ord(character) <= spans[place][1]
