"""Where a text has digits: what is made of digits is looked for there alone."""

import re
from collections.abc import Iterator, Sequence

Run = tuple[int, int]
# No value on one line has more characters than this between two of its digits.
_GAP = 8
# Repeats are counted, since the search keeps a state for each.
_RUN = re.compile(rf"\d(?:[^\d\n]{{0,{_GAP}}}\d){{0,500}}")


def find_runs(text: str) -> list[Run]:
    """Returns where digits begin and end that stand no further apart than a value's.

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
    """Yields what `pattern.finditer(text)` yields, without a look at what is far from any digit.

    Args:
        pattern: Matches values that have digits.
        text: The text.
        runs: Where it has digits.
        length: How many characters a value has from its first digit to its last, at least.
        before: How many characters a value has before its first digit, at most.
        after: How many characters the pattern looks at after the last digit of a run, at most.
    """
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
