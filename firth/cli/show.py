"""`firth show`: a resolved recipe, with its operations and memory; `firth recipes`: the presets."""

import pathlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from firth.cli import commands
from firth.cli.commands import base_option, recipe_or_exit
from firth.cli.output import ExitCode, fail, note, run_quietly, usage_errors
from firth.cli.runs_on_disk import RECIPE_FILE, RunOnDisk, all_runs, run_named

if TYPE_CHECKING:
    from firth.recipes import Recipe
    from firth.recipes.counting.accelerators import Accelerator
    from firth.recipes.reading.raw_recipes import Option
    from firth.recipes.run.adapting import AdaptingRecipe
    from firth.tuning import TuningCosts

Shown = Annotated[
    str,
    typer.Argument(
        metavar="RECIPE",
        help="A preset's name, the path of a YAML file, or the name of a run or of an imported model.",
        show_default=False,
    ),
]
OnAccelerator = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Also memory and time of a step on an accelerator: a100, l4, h100, h200, or a chip of tpu_v5e, "
        "tpu_v5p or tpu_v6e, or `cpu`, which is measured.",
        show_default=False,
    ),
]
_CPU = "cpu"


def _show(
    recipe: Shown,
    base: commands.Base = None,
    overrides: commands.Overrides = None,
    root: commands.Root = commands.DEFAULT_ROOT,
    accelerator: OnAccelerator = None,
) -> None:
    """Checks a recipe and prints it in full, with its parameter count, FLOPs and memory.

    The output is itself a recipe file. For a run or an imported model, it is the recipe that this was made
    from.
    """
    from firth.recipes.reading.adapting import adapts

    if accelerator is not None and (_run_of(recipe, root) is not None or adapts(recipe)):
        fail(f"--accelerator goes with a recipe that pre-trains, which {recipe} is not", ExitCode.USAGE)
    if (run := _run_of(recipe, root)) is not None:
        if base is not None or overrides:
            fail(
                f"{recipe} is a run, of which nothing can be changed; --set and --base go with a recipe",
                ExitCode.USAGE,
            )
        _print(*_shown_run(run))
        return
    if adapts(recipe):
        _print(*_shown_adapting(recipe, [*base_option(base), *(overrides or ())], root))
        return
    _check_name(recipe, root)
    from firth.cli.costs import accelerator_lines, cost_lines
    from firth.recipes import recipe_to_yaml

    checked = recipe_or_exit(recipe, [*base_option(base), *(overrides or ())], root=root)
    lines = [*base_lines(checked), *cost_lines(checked)]
    if accelerator is not None:
        lines += accelerator_lines(checked, _accelerator(accelerator))
    _print(lines, recipe_to_yaml(checked))


def _accelerator(name: str) -> "Accelerator":
    from firth.recipes.counting.accelerators import ACCELERATORS

    if name == _CPU:
        from firth.training.cpu_rates import StoppedClockError, measure_cpu

        try:
            return measure_cpu()
        except StoppedClockError as error:
            fail(f"--accelerator {name}: {error}")
    if name not in ACCELERATORS:
        from firth.recipes.base.errors import suggest

        fail(f"--accelerator {name}: unknown; {suggest(name, [_CPU, *ACCELERATORS])}", ExitCode.USAGE)
    return ACCELERATORS[name]


def _print(lines: list[str], text: str) -> None:
    for line in lines:
        typer.echo(f"# {line}")
    typer.echo(text, nl=False)


def _run_of(name: str, root: pathlib.Path) -> RunOnDisk | None:
    """Returns the run of a name below the root, or in a folder; a preset of the same name comes first."""
    from firth.recipes.reading.families import preset_names

    return None if name in preset_names() else run_named(root, name)


def _check_name(name: str, root: pathlib.Path) -> None:
    """Ends the command for a name whose nearest match is that of a run."""
    from firth.recipes.base.errors import suggest
    from firth.recipes.reading.families import preset_names
    from firth.recipes.reading.raw_recipes import SUFFIXES

    runs, presets = [run.directory.name for run in all_runs(root)], preset_names()
    if name in presets or name.endswith(SUFFIXES):
        return
    advice = suggest(name, [*presets, *runs])
    if advice in [f"did you mean {run}?" for run in runs]:
        fail(f"no preset, and no run in {root}, is named {name!r}; {advice}", ExitCode.USAGE)


def _shown_run(run: RunOnDisk) -> tuple[list[str], str]:
    from firth.cli.costs import backbone_lines
    from firth.recipes import RecipeError
    from firth.recipes.reading.adapting import run_yaml
    from firth.recipes.reading.loading import load_run_recipe

    with usage_errors(RecipeError):
        recipe = load_run_recipe(run.directory / RECIPE_FILE)
    lines = [f"{run.directory}: {run.state}"]
    if fresh := [path for path in run.summary.get("fresh", ()) if run.imported_from]:
        lines.append(f"made fresh, and random until trained: {', '.join(fresh)}")
    if recipe.counts_epochs:
        return [*lines, *_scores_of(run, recipe), *_adapting_lines(recipe)], run_yaml(recipe)
    return [*lines, *backbone_lines(recipe)], run_yaml(recipe)


def _scores_of(run: RunOnDisk, recipe: Any) -> list[str]:
    """Returns lines on the scores of an ended run, and on held-out records in the corpus of its base."""
    if not (evaluation := run.summary.get("evaluation")):
        return []
    from firth.reports.task_scores import contamination_line, score_lines

    known = contamination_line(run.summary.get("contamination"))
    return [*score_lines(evaluation, recipe.goal.headline_metrics), known]


def _shown_adapting(
    path: str, options: "Sequence[str | Option]", root: pathlib.Path
) -> tuple[list[str], str]:
    from firth.cli.bundles import import_base
    from firth.recipes import RecipeError
    from firth.recipes.reading.adapting import adapting_yaml, load_adapting_recipe

    with usage_errors(RecipeError):
        recipe = load_adapting_recipe(path, options, root, import_base)
    recipe, problem = run_quietly(lambda: _labelled(recipe), "show", {})
    if problem:
        note(f"labels and scores are as the recipe says them, since its data cannot be read: {problem}")
    return _adapting_lines(recipe), adapting_yaml(recipe)


def _labelled(recipe: "AdaptingRecipe") -> "tuple[AdaptingRecipe, str]":
    """Returns a recipe with the labels of its data, or the same recipe and the problem of its data."""
    from firth.tasks.task_options import with_labels

    try:
        return with_labels(recipe), ""
    except ValueError as error:
        return recipe, str(error)


def _adapting_lines(recipe: Any) -> list[str]:
    from firth.cli.costs import backbone_lines
    from firth.reports.quantities import bytes_text

    costs = costs_of_method(recipe, "show")
    held = (f"{name} {bytes_text(getattr(costs, name))}" for name in ("weights", "gradients", "moments"))
    return [
        f"base: {recipe.base.bundle}",
        *backbone_lines(recipe),
        f"trained by method.kind: {recipe.method.kind}: {costs.trainable:,} parameters, the head among them",
        f"memory in training: {bytes_text(costs.total)}, without what a step keeps for its backward pass",
        f"  {', '.join(held)}",
        f"training: {recipe.epochs:g} epochs in steps of about {recipe.examples_per_step:,} records",
    ]


def costs_of_method(recipe: "AdaptingRecipe", command: str) -> "TuningCosts":
    """Returns the trained parameters and the memory of a run; ends the command if its method does not fit."""

    def count() -> "TuningCosts":
        from firth.tuning import tuning_costs

        return tuning_costs(recipe)

    return run_quietly(count, command, {ValueError: ExitCode.USAGE})


def base_lines(recipe: "Recipe") -> list[str]:
    """Returns lines on the parts that a recipe takes from its base; none without a base."""
    if recipe.base is None:
        return []
    return [
        f"base: {recipe.base.bundle}",
        "from it: tokenizer and model, with their weights; sequences, objective and export.pooling unless "
        "the recipe says others; heads that it lacks are made fresh",
    ]


register_show = commands.registrar(
    "show",
    _show,
    "firth show bert_mini",
    "firth show bert_mini --set training.steps=500",
    "firth show bert_base > my_recipe.yaml",
    "firth show bert_mini --base minilm",
    "firth show my_task.yaml",
    "firth show minilm",
)


def _recipes(
    schema: Annotated[
        bool, typer.Option("--schema", help="Print the JSON Schema of recipe files, for editors.")
    ] = False,
    runs: Annotated[
        Literal["pretraining", "adapting"] | None,
        typer.Argument(help="Recipes that --schema is of: by default those that pre-train a model."),
    ] = None,
) -> None:
    """Lists the presets: recipes to run as they are, or to start from with `extends`."""
    if schema:
        from firth.recipes import AdaptingRecipe, Recipe
        from firth.recipes.reading.schema import schema_text

        typer.echo(schema_text(AdaptingRecipe if runs == "adapting" else Recipe), nl=False)
    elif runs:
        fail(f"{runs}: names a schema; say firth recipes --schema {runs}", ExitCode.USAGE)
    else:
        _print_presets()


def _print_presets() -> None:
    """Prints a line for each preset, and an empty line between families."""
    from rich.console import Console
    from rich.table import Table

    from firth.cli.costs import count_text
    from firth.recipes import load_recipe, preset_names
    from firth.recipes.counting import parameter_counts
    from firth.recipes.reading.families import family_of

    table = Table(box=None, pad_edge=False)
    table.add_column("preset", style="bold", no_wrap=True)
    table.add_column("parameters", justify="right", no_wrap=True)
    table.add_column("what it is")
    above = None
    for name in preset_names():
        kin = family_of(name).split("_")[0]
        if above not in (None, kin):
            table.add_row()
        recipe, above = load_recipe(name), kin
        table.add_row(name, count_text(parameter_counts(recipe)["total"]), recipe.description)
    Console().print(table)


register_recipes = commands.registrar(
    "recipes",
    _recipes,
    "firth recipes",
    "firth recipes --schema > recipe.schema.json",
    "firth recipes --schema adapting > adapting_recipe.schema.json",
)
