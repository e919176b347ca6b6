"""Rows of a table of which `make test` has some, and the repeated tests the others."""

from collections.abc import Collection, Iterable

import pytest


def often(values: Iterable, few: Collection, *, is_shared: bool = False) -> list:
    """Returns parameters of a test: those that are not in `few` are marked as repeated.

    Args:
        values: Values of one parameter, or tuples of those of several.
        few: Values that are tried each time.
        is_shared: True if other tables or backends use `few` too, so that some of it may not be in `values`.

    Raises:
        ValueError: If a value of `few` is not in `values`.
    """
    values = list(values)
    if absent := [each for each in few if each not in values and not is_shared]:
        raise ValueError(f"few: {absent} are none of the values {values}")
    rows = [(each, each if isinstance(each, tuple) else (each,)) for each in values]
    return [pytest.param(*row, marks=() if each in few else pytest.mark.repeated) for each, row in rows]
