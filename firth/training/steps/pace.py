"""How many steps a block has."""

from collections.abc import Iterable

# A block that is chosen by time takes about as long: long enough that its start costs nothing, short enough
# that a request to end is soon seen.
_SECONDS = 1.0
# Steps after the one that compiles, whose speed says how long the rest will take.
TIMED_STEPS = 5


class Pace:
    """The number of steps of the next block: a fixed one, or as many as take about a second.

    The first block is one step, which compiles.

    Example:

    >>> pace = Pace(None)
    >>> pace.next(step=0, borders=[1000])
    1
    >>> pace.made(steps=1, seconds=20.0)
    >>> pace.next(step=1, borders=[1000])
    5
    >>> pace.made(steps=5, seconds=0.5)
    >>> pace.next(step=6, borders=[1000]), pace.next(step=6, borders=[1000, 8])
    (10, 2)
    """

    def __init__(self, steps: int | None) -> None:
        self._fixed = steps
        self._next, self._has_compiled = 1, False

    def next(self, step: int, borders: Iterable[int]) -> int:
        """Returns the number of steps of the next block, which ends at the next border at the latest."""
        return min(self._next, min(borders) - step)

    def made(self, steps: int, seconds: float) -> None:
        """Takes the time that a block took."""
        if self._fixed:
            self._next = self._fixed
        elif not self._has_compiled:
            self._next, self._has_compiled = TIMED_STEPS, True
        else:
            self._next = max(1, round(_SECONDS * steps / max(seconds, 1e-6)))
