"""Checks that a misspelt key or kind is refused with the right name, wherever a class takes a dict."""

from collections.abc import Iterator
from typing import Any

import pytest


def misspelt(arguments: Any, path: tuple = ()) -> Iterator[tuple[tuple, Any, str, str]]:
    """Yields arguments with one name misspelt: where, the arguments, the wrong name and the right one.

    In each dict below the arguments, at any depth, one key is misspelt, and the kind where there is one.
    """
    for key, value in arguments.items():
        if isinstance(value, dict):
            for changed, wrong, right in _misspelt_once(value):
                yield (*path, key), {**arguments, key: changed}, wrong, right
            for where, changed, wrong, right in misspelt(value, (*path, key)):
                yield where, {**arguments, key: changed}, wrong, right


def _misspelt_once(part: dict) -> Iterator[tuple[dict, str, str]]:
    for key in part:
        if key != "kind":
            wrong = _misspell(key)
            yield {wrong if name == key else name: value for name, value in part.items()}, wrong, key
    if "kind" in part:
        wrong = _misspell(part["kind"])
        yield {**part, "kind": wrong}, wrong, part["kind"]


def _misspell(name: str) -> str:
    """Puts the last two letters that differ in each other's place; a short name gets one more."""
    for place in range(len(name) - 1, 0, -1):
        if name[place] != name[place - 1]:
            return name[: place - 1] + name[place] + name[place - 1] + name[place + 1 :]
    return f"{name}s"


def check_refused(make, arguments: dict) -> int:
    """Checks that every misspelt name is refused, and that the right one is named; returns how many are."""
    count = 0
    for where, changed, wrong, right in misspelt(arguments):
        # The first name is the argument's own, which its type does not know.
        place = "".join(f"{key}.*" for key in where[1:])
        with pytest.raises(ValueError, match=f"{place}{wrong}.*did you mean {right}") as raised:
            make(**changed)
        assert type(raised.value) is ValueError
        count += 1
    return count
