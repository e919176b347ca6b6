"""`firth glue`: one model on all tasks of GLUE whose files are there."""

import pathlib
from typing import TYPE_CHECKING, Annotated, Any

import typer

from firth.cli import commands, execution
from firth.cli.execution import run_in_own_process
from firth.cli.finetuning.finetune import Epochs, MethodName, base_options, method_options
from firth.cli.finetuning.labelled_data import print_labelled_data
from firth.cli.output import ExitCode, fail, usage_errors

if TYPE_CHECKING:
    from firth.pipelines.local import RunResult
    from firth.recipes.run.adapting import AdaptingRecipe

Model = Annotated[
    str,
    typer.Argument(
        metavar="BASE",
        help="The model to start from: a run's name, that of an imported model, a bundle's path, or that of "
        "another library's folder, which is imported once.",
        show_default=False,
    ),
]
Data = Annotated[
    str, typer.Option("--data", metavar="DIR", help="Folder of GLUE's folders: CoLA, SST-2 and so on.")
]
Tasks = Annotated[
    list[str] | None,
    typer.Option("--task", metavar="TASK", help="Only this task, such as rte; may be given several times."),
]
Name = Annotated[
    str | None,
    typer.Option(
        "--name",
        metavar="NAME",
        help="Folder of the results below the root, and start of the runs' names; BASE_glue if not given.",
    ),
]


def _glue(
    base: Model,
    data: Data,
    task: Tasks = None,
    method: MethodName = None,
    epochs: Epochs = None,
    overrides: commands.Overrides = None,
    root: commands.Root = commands.DEFAULT_ROOT,
    name: Name = None,
    verbose: execution.Verbose = False,
) -> None:
    """Adapts a model to each task of GLUE that is there, and compares its dev scores with published ones.

    All files are read, and rejections are printed, before anything is trained. Each task is a run of
    its own. A run that is whole is not trained again, so that the same command resumes after it was stopped.
    Test splits have no labels: their answers are written as GLUE's site takes them.
    """
    from firth.evaluation.record_scores import CLEAN
    from firth.pipelines import glue
    from firth.reports.task_scores import clean_lines

    with usage_errors(ValueError):
        files = glue.find_tasks(data, task or ())
    folder = name or f"{pathlib.Path(base).name}_glue"
    options = [*base_options(base), *method_options(method, epochs), *(overrides or ())]
    recipes = {each: _recipe(each, data, f"{folder}_{each}", options, root) for each in files.present}
    scores, runs, predictions = dict[str, float](), dict[str, str](), dict[str, dict[str, Any]]()
    clean, of_clean = list[str](), dict[str, float]()
    notes = list(files.missing.values())
    for each, recipe in recipes.items():
        result = _run(recipe, root, verbose)
        scores |= glue.scores_of(each, recipe.task, _overall(result))
        of_clean |= glue.scores_of(each, recipe.task, result.evaluation.get(CLEAN, {}))
        clean += [f"{each}: {line}" for line in clean_lines(result.evaluation, recipe.task.score_names)]
        runs[each] = str(result.run_dir)
        if not result.blessed or result.pushed is None:
            notes.append(f"{each}: its model is not blessed, so that no test split is predicted")
            continue
        answers = glue.answer_splits(each, recipe.task, data, result.pushed)
        scores |= answers.scores
        predictions |= answers.predictions
        notes += answers.problems
    lacking = glue.write_results(str(root / folder), scores, runs, files.missing, predictions, of_clean)
    _print(scores, clean, folder, root / folder, notes, tuple(predictions), lacking)


def _recipe(task: str, data: str, name: str, options: list[Any], root: pathlib.Path) -> "AdaptingRecipe":
    from firth.cli.bundles import import_base
    from firth.pipelines.glue import options_of
    from firth.recipes.reading.adapting import load_adapting_recipe
    from firth.recipes.reading.raw_recipes import Option
    from firth.tasks.task_options import read_for

    named = Option("name", name, f"--name {name}")
    try:
        options = [named, *options_of(task, data), *options]
        recipe, found = read_for(load_adapting_recipe(None, options, root, import_base))
    except ValueError as error:
        fail(f"{task}: {error}", ExitCode.USAGE)
    typer.echo(f"{task}:")
    print_labelled_data(found.report(), recipe)
    return recipe


def _run(recipe: "AdaptingRecipe", root: pathlib.Path, verbose: bool) -> "RunResult":
    from firth.pipelines import local

    # The memory of one task is free before the next.
    options = local.RunOptions(recipe.name, verbose)
    return run_in_own_process(execution.execute, local.finetune, recipe, root, options)


def _overall(result: "RunResult") -> dict[str, float]:
    from firth.reports.threshold_results import overall

    return overall(result.evaluation)


def _print(
    scores: dict[str, float],
    clean: list[str],
    name: str,
    folder: pathlib.Path,
    notes: list[str],
    written: tuple[str, ...],
    lacking: tuple[str, ...],
) -> None:
    from firth.evaluation.references import bert_table_average, comparison_table, leaderboard_average

    typer.echo(f"\n{comparison_table(scores, 'dev', name)}\n")
    for line in clean:
        typer.echo(line)
    for table, average in (
        ("BERT's table", bert_table_average(scores)),
        ("the leaderboard", leaderboard_average(scores)),
    ):
        without = f", without {', '.join(average.missing)}" if average.missing else ""
        typer.echo(f"average as of {table}: {average.value:.1f}{without}")
    for note in notes:
        typer.echo(f"left out: {note}")
    typer.echo(f"dev scores: {folder}/glue.json")
    if written:
        needs = f"; GLUE's site needs {', '.join(lacking)} too" if lacking else ""
        typer.echo(f"answers to test splits, not scored: {folder}/submission ({', '.join(written)}){needs}")


register = commands.registrar(
    "glue",
    _glue,
    "firth glue minilm --data glue",
    "firth glue bert_mini --data glue --task rte --task cola --epochs 2",
    after="Exit codes: 0 done; 1 a run failed; 2 wrong usage, recipe or data.",
)
