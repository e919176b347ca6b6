"""Replacement of values until no value is found, in time linear in the length of the text.

A replacement may form a new value together with the text next to it. The new value is replaced too.
After the first pass only the places that have changed are searched, and the whole text again at the end.
"""

from collections.abc import Callable
from typing import NamedTuple

Find = Callable[[str], list["Finding"]]
Replace = Callable[[str, list["Finding"], int], tuple[str, list[int]]]

# Words that announce a value are at most this many characters away, and most values are shorter.
_REACH = 128


class Finding(NamedTuple):
    """A value of personal data in a text.

    Attributes:
        start: Index of its first character.
        end: Index after its last character.
        type: Name of its type in the recipe, such as `email`.
    """

    start: int
    end: int
    type: str


def replace_all(text: str, find: Find, replace: Replace) -> str:
    """Returns a text in which nothing more is found."""
    turn, reach = 0, _REACH
    while findings := find(text):
        text, places = replace(text, findings, turn)
        turn += 1
        if 3 * reach * len(places) < len(text):
            text, turn = _replace_near(text, places, turn, reach, find, replace)
            # Values that are found after this pass are longer than the reach.
            reach *= 2
    return text


def _replace_near(
    text: str, places: list[int], turn: int, reach: int, find: Find, replace: Replace
) -> tuple[str, int]:
    """Searches again near the changed places, and near those that this changes, until nothing changes."""
    parts = [text[start : start + reach] for start in range(0, len(text), reach)]
    changed = {place // reach for place in places}
    while changed:
        last_changed, changed = sorted(changed), set()
        for part in last_changed:
            first, end = _around(parts, part, reach)
            window = "".join(parts[first:end])
            findings = _inside(
                find(window), window, reach // 2 * (first > 0), reach // 2 * (end < len(parts))
            )
            if findings:
                window, places = replace(window, findings, turn)
                size = -(-len(window) // (end - first))
                parts[first:end] = [window[i * size : (i + 1) * size] for i in range(end - first)]
                changed.update(first + place // size for place in places)
        turn += 1
    return "".join(parts), turn


def _around(parts: list[str], part: int, reach: int) -> tuple[int, int]:
    """Returns the range of the parts within reach of a part, as (first, end)."""
    first, before = part, 0
    while first > 0 and before < reach:
        first -= 1
        before += len(parts[first])
    end, after = part + 1, 0
    while end < len(parts) and after < reach:
        after += len(parts[end])
        end += 1
    return first, end


def _inside(findings: list[Finding], window: str, before: int, after: int) -> list[Finding]:
    """Returns the findings at least `before` characters from the start and `after` from the end."""
    return [each for each in findings if each.start >= before and each.end <= len(window) - after]
