"""Runs of digits in a text, which are searched for values that consist of digits."""

import re
from collections.abc import Iterator, Sequence

Run = tuple[int, int]
# No value on one line has more characters than this between two of its digits.
_GAP = 8
# Repeats are counted, since the search keeps a state for each.
_RUN = re.compile(rf"\d(?:[^\d\n]{{0,{_GAP}}}\d){{0,500}}")


def find_runs(text: str) -> list[Run]:
    """Returns the runs of digits in a text as (start, end), in order.

    Digits belong to the same run if there are no more characters between them than between the digits of a
    value.

    Example:

    >>> find_runs("In 1999, call 212-736-5000.")
    [(3, 26)]
    """
    runs: list[Run] = []
    for each in _RUN.finditer(text):
        start, end = each.span()
        if runs and start - runs[-1][1] <= _GAP:
            start = runs.pop()[0]
        runs.append((start, end))
    return runs


def search(
    pattern: re.Pattern[str], text: str, runs: Sequence[Run], length: int, before: int = 0, after: int = 4
) -> Iterator[re.Match[str]]:
    """Yields the matches of `pattern.finditer(text)`, but searches only in and near runs of digits."""
    end = 0
    for start, run_end in runs:
        if run_end - start < length:
            continue
        position = max(end, start - before)
        for match in pattern.finditer(text, position, run_end + after):
            if match.start() >= run_end:
                break
            end = match.end()
            yield match
