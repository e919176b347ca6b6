"""`firth run`: from a recipe to a served model."""

import typer

from firth.cli import commands, execution
from firth.cli.output import terminal


def _run(
    context: typer.Context,
    recipe: commands.AnyRecipeName = None,
    base: commands.Base = None,
    text: execution.Text = None,
    jsonl: execution.Jsonl = None,
    text_key: execution.TextKey = None,
    overrides: commands.Overrides = None,
    root: commands.Root = commands.DEFAULT_ROOT,
    name: execution.Name = None,
    reuse_folder: execution.ReuseFolder = False,
    workers: execution.Workers = 1,
    beam_arg: execution.BeamArgs = None,
    verbose: execution.Verbose = False,
) -> None:
    """Trains, evaluates, validates and pushes a model, and writes a report on it."""
    options = execution.beam_args(beam_arg, workers)
    checked = execution.recipe_of(context, recipe, text, jsonl, text_key, overrides, base, root)
    from firth.cli.least_time import least_time_line

    if line := least_time_line(checked):
        terminal().print(line)
    from firth.pipelines import local

    result = execution.execute(local.run, checked, root, name, verbose, options, reuse_folder)
    from firth.cli.summary import print_summary

    execution.finish(print_summary, result, checked, root)


register = commands.registrar(
    "run",
    _run,
    "firth run demo",
    "firth run bert_mini --text 'books/*.txt'",
    "firth run bert_tiny --jsonl 'news/*.jsonl.gz' --text-key body --set training.steps=2000",
    "firth run my_recipe.yaml --name second_try",
    "firth run --base minilm --text 'notes/*.txt' --set training.steps=500",
    after=(
        "Run the same command again to go on where a run stopped. Exit codes: 0 done; 1 the run failed, "
        "or another one holds its folder; 2 wrong usage, recipe or source, or a corpus that breaks its "
        "limits; 3 done, but the model was not blessed; 130 interrupted; 143 ended by "
        "SIGTERM, in training with a checkpoint."
    ),
    context_settings=execution.SETTINGS,
)
