"""`firth run`: from a recipe to a served model."""

import pathlib
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from firth.cli import commands, execution
from firth.cli.output import terminal
from firth.reports.quantities import seconds_text

if TYPE_CHECKING:
    from firth.recipes import Recipe

# A shorter training is not announced.
LONG_SECONDS = 3600.0
_SIZE = 1024


def _run(recipe: "Recipe", execute: execution.Execute, root: pathlib.Path) -> None:
    """Trains, evaluates, validates and pushes a model, and writes a report on it."""
    if line := least_time_line(recipe):
        terminal().print(line)
    from firth.pipelines import local

    result = execute(local.run)
    from firth.cli.summary import print_summary

    execution.finish(print_summary, result, recipe, root)


register = commands.registrar(
    "run",
    execution.command_on_recipe(_run),
    "firth run demo",
    "firth run bert_mini --text 'books/*.txt'",
    "firth run bert_tiny --jsonl 'news/*.jsonl.gz' --text-key body --set training.steps=2000",
    "firth run my_recipe.yaml --name second_try",
    "firth run bert_mini --metadata postgresql://firth@localhost:5432/runs",
    "firth run --base minilm --text 'notes/*.txt' --set training.steps=500",
    after=(
        "Run the same command again to resume where a run stopped. Exit codes: 0 done; 1 the run failed, "
        "or another one holds its folder; 2 wrong usage, recipe or source, or a corpus that breaks its "
        "limits; 3 done, but the model was not blessed; 130 interrupted, and 143 "
        "ended by SIGTERM, both in training with a checkpoint."
    ),
    context_settings=execution.SETTINGS,
)


def least_time_line(recipe: "Recipe") -> str | None:
    """Returns a line with the least time of a training on this machine's CPU; None for under an hour.

    None too where the machine's clock does not move. It is the time of the matrix products alone, at the
    speed that the machine has now.
    """
    from firth.recipes.counting import training_flops

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
