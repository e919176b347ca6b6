"""About the least time of a long training, known before anything runs."""

import time
from collections.abc import Callable

from firth.analysis.quantities import seconds_text
from firth.recipes import Recipe
from firth.recipes.counting import training_flops

# A shorter training is not announced.
LONG_SECONDS = 3600.0
_SIZE = 1024


def least_time_line(recipe: Recipe) -> str | None:
    """Returns about how long a whole training takes at least on this machine's CPU; None for under an hour.

    None too where the machine's clock does not move. It is the time of the matrix products alone, at the
    speed that the machine has now.
    """
    flops, speed = training_flops(recipe), matrix_speed()
    if speed is None or flops / speed < LONG_SECONDS:
        return None
    return (
        f"from its beginning, training takes about {seconds_text(flops / speed)} or more on this machine's "
        f"CPU: {flops:.3g} FLOPs at the {speed / 1e9:,.0f} GFLOP/s of its matrix products"
    )


def matrix_speed(clock: Callable[[], float] = time.perf_counter) -> float | None:
    """Returns the floating-point operations a second of a matrix product in float32, the best of three.

    None where a clock that was set does not move.
    """
    import numpy as np

    values = np.ones((_SIZE, _SIZE), np.float32)

    def seconds() -> float:
        began = clock()
        values @ values
        return clock() - began

    least = min(seconds() for _ in range(3))
    return 2 * _SIZE**3 / least if least > 0 else None
