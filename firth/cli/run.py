"""`firth run`: from a recipe to a served model."""

import pathlib
from typing import TYPE_CHECKING

from firth.cli import commands, execution
from firth.cli.output import terminal

if TYPE_CHECKING:
    from firth.recipes import Recipe


def _run(recipe: "Recipe", execute: execution.Execute, root: pathlib.Path) -> None:
    """Trains, evaluates, validates and pushes a model, and writes a report on it."""
    from firth.cli.least_time import least_time_line

    if line := least_time_line(recipe):
        terminal().print(line)
    from firth.pipelines import local

    result = execute(local.run)
    from firth.cli.summary import print_summary

    execution.finish(print_summary, result, recipe, root)


register = commands.registrar(
    "run",
    execution.on_recipe(_run),
    "firth run demo",
    "firth run bert_mini --text 'books/*.txt'",
    "firth run bert_tiny --jsonl 'news/*.jsonl.gz' --text-key body --set training.steps=2000",
    "firth run my_recipe.yaml --name second_try",
    "firth run bert_mini --metadata postgresql://firth@localhost:5432/runs",
    "firth run --base minilm --text 'notes/*.txt' --set training.steps=500",
    after=(
        "Run the same command again to go on where a run stopped. Exit codes: 0 done; 1 the run failed, "
        "or another one holds its folder; 2 wrong usage, recipe or source, or a corpus that breaks its "
        "limits; 3 done, but the model was not blessed; 130 interrupted, and 143 "
        "ended by SIGTERM, both in training with a checkpoint."
    ),
    context_settings=execution.SETTINGS,
)
