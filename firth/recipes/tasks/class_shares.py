"""The shares of classes among the labels, which heads start from."""

import math
from collections.abc import Sequence
from typing import Annotated

import pydantic

# Of a sum of shares that were rounded.
_TOLERANCE = 0.01

ClassShares = tuple[Annotated[float, pydantic.Field(gt=0.0, le=1.0)], ...] | None


def checked_shares(shares: Sequence[float] | None, labels: Sequence[str]) -> None:
    """Checks the shares of classes."""
    if not shares:
        return
    if len(shares) != len(labels):
        raise ValueError(f"class_shares: there are {len(shares)}, and {len(labels)} labels")
    if abs(sum(shares) - 1.0) > _TOLERANCE:
        raise ValueError(f"class_shares: their sum is {sum(shares):.4g}, not 1")


def bias_of_shares(shares: Sequence[float] | None) -> tuple[float, ...] | float:
    """Returns the logits that give the classes their shares.

    Example:

    >>> [round(each, 2) for each in bias_of_shares((0.9, 0.1))], bias_of_shares(None)
    ([-0.11, -2.3], 0.0)
    """
    return tuple(map(math.log, shares)) if shares else 0.0
