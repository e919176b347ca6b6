"""`firth finetune`: from a model and labelled data to a served task model."""

import dataclasses
import pathlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from firth import storage
from firth.cli import commands, execution
from firth.cli.execution import run_in_own_process
from firth.cli.finetuning.labelled_data import print_labelled_data
from firth.cli.output import ExitCode, fail, usage_errors
from firth.cli.show import costs_of_method

if TYPE_CHECKING:
    from firth.pipelines.local import RunOptions, RunResult
    from firth.recipes.reading.raw_recipes import Option
    from firth.recipes.run.adapting import AdaptingRecipe
    from firth.reports.task_scores import ScoreOfSeeds
    from firth.tasks.labelled.data import HandedData

SEEDS_FILE = "seeds.json"
Seeds = Annotated[
    int,
    typer.Option(
        "--seeds",
        min=1,
        max=100,
        help="Number of runs, each by another seed and in a folder of its own; prints the median, the "
        "standard deviation and the best of their scores.",
    ),
]
Model = Annotated[
    str | None,
    typer.Argument(
        metavar="[BASE]",
        help="The model to start from: a run's name, that of an imported model, a bundle's path, or that of "
        "another library's folder, which is imported once.",
        show_default=False,
    ),
]
RecipeFile = Annotated[
    pathlib.Path | None, typer.Option("--recipe", metavar="FILE", help="A recipe as a YAML file.")
]
TaskName = Annotated[
    str | None,
    typer.Option(
        "--task",
        metavar="TASK",
        help="A published data set, such as sst2, with --data; or the kind of task, such as classification, "
        "regression, tagging or embedding, with --train, or without any data for one made of docstrings.",
    ),
]
Data = Annotated[str | None, typer.Option("--data", metavar="DIR", help="Folder of the published data set.")]
Train = Annotated[
    str | None,
    typer.Option(
        "--train",
        metavar="FILE",
        help="Records to train on: csv, tsv, jsonl or json; SQuAD's json for span, and a word on a line in a "
        "conll, bio, iob2 or conllu file for tagging.",
    ),
]
Eval = Annotated[
    str | None,
    typer.Option("--eval", metavar="FILE", help="Records to evaluate on; a tenth of --train if not given."),
]
TextColumn = Annotated[
    str | None,
    typer.Option(
        "--text",
        metavar="COLUMN",
        help="Column of the text, of the question (span), of the words (tagging) or of the messages "
        "(dialogue); if not given `text`, `question`, `words` or `messages`.",
    ),
]
PairColumn = Annotated[
    str | None,
    typer.Option("--pair", metavar="COLUMN", help="Column of the second text, for pairs and questions."),
]
NegativeColumn = Annotated[
    str | None,
    typer.Option(
        "--negative", metavar="COLUMN", help="Column of a text that does not belong to the first (embedding)."
    ),
]
QuestionColumn = Annotated[
    str | None,
    typer.Option("--question", metavar="COLUMN", help="Column of the question next to the text (choice)."),
]
ChoiceColumns = Annotated[
    list[str] | None,
    typer.Option(
        "--choice",
        metavar="COLUMN",
        help="Column of a choice, several times; or of a list of choices in JSON (choice).",
    ),
]
LabelColumn = Annotated[
    str | None,
    typer.Option(
        "--label",
        metavar="COLUMN",
        help="Column of the label, or of the reply (dialogue); if not given `label`, of tagging `tags`, of "
        "span `answers`, and none for tasks that learn from texts alone.",
    ),
]
MethodName = Annotated[
    str | None,
    typer.Option(
        "--method",
        metavar="METHOD",
        help="What is trained or added: full (all) if not given; head, last_layers, gradual_unfreezing, lora "
        "and others, which docs/how-to/methods.md lists.",
    ),
]
Epochs = Annotated[
    float | None,
    typer.Option("--epochs", min=0.0, help="Times that each record is trained on; 3 if not given."),
]


def _finetune(
    base: Model = None,
    recipe: RecipeFile = None,
    task: TaskName = None,
    data: Data = None,
    train: Train = None,
    eval: Eval = None,
    text: TextColumn = None,
    pair: PairColumn = None,
    negative: NegativeColumn = None,
    question: QuestionColumn = None,
    choices: ChoiceColumns = None,
    label: LabelColumn = None,
    method: MethodName = None,
    epochs: Epochs = None,
    seeds: Seeds = 1,
    overrides: commands.Overrides = None,
    root: commands.Root = commands.DEFAULT_ROOT,
    name: execution.Name = None,
    reuse_folder: execution.ReuseFolder = False,
    beam_arg: execution.BeamArgs = None,
    metadata: execution.Metadata = "",
    verbose: execution.Verbose = False,
) -> None:
    """Trains a model for a task on labelled data, evaluates it, and serves it on raw strings."""
    if recipe is None and (task is None or base is None):
        fail("give a BASE and a --task, or a --recipe", ExitCode.USAGE)
    texts = {"text": text, "pair": pair, "negative": negative, "question": question, "choices": choices}
    options = [
        *base_options(base),
        *_task(task, data, train, eval, texts, label),
        *method_options(method, epochs),
        *(overrides or ()),
    ]
    beam = execution.beam_args(beam_arg)
    checked, report, records = _read_or_exit(recipe, options, root)
    print_labelled_data(report, checked)
    from firth.pipelines import local

    options_of_run = local.RunOptions(
        name, verbose, beam_pipeline_args=beam, reuse_folder=reuse_folder, metadata=metadata
    )
    if seeds > 1:
        run_seeds(checked, seeds, root, options_of_run)
        return
    options_of_run = dataclasses.replace(options_of_run, records=records)
    result = execution.execute(local.finetune, checked, root, options_of_run)
    from firth.cli.summary import print_task_summary

    execution.finish(print_task_summary, result, checked, root)


def base_options(base: str | None) -> "list[Option]":
    """Returns the option of the argument BASE."""
    return _option("base", base, "BASE")


def method_options(method: str | None, epochs: float | None) -> "list[Option]":
    """Returns the options of `--method` and `--epochs`."""
    return [*_option("method.kind", method, "--method"), *_option("epochs", epochs, "--epochs")]


def _option(key: str, value: str | float | None, name: str) -> "list[Option]":
    from firth.recipes.reading.raw_recipes import Option

    return [] if value is None else [Option(key, value, f"{name} {value}")]


def _task(
    task: str | None,
    data: str | None,
    train: str | None,
    eval: str | None,
    texts: "Mapping[str, str | list[str] | None]",
    label: str | None,
) -> "list[Option]":
    """Returns the options of the recipe's `data` and `task`, which several arguments describe together."""
    from firth.recipes.reading.raw_recipes import Option

    if task is None:
        return []
    from firth.tasks import task_options as labels

    given = {
        "--eval": eval,
        **{f"--{role.rstrip('s')}": column for role, column in texts.items()},
        "--label": label,
    }
    with usage_errors(ValueError):
        labels.check_data_options(task, data, train, [name for name, column in given.items() if column])
        if data is not None:
            place, read, described = "--data", labels.published_data(task, data), labels.task_of_format(task)
        elif train is not None:
            described, columns = labels.task_on_columns(task, texts)
            column = label or labels.label_column(task)
            place = "--train"
            read = {"kind": "columns", "train": train, "eval": eval, "texts": columns, "label": column}
        else:
            place, read, described = "no data", labels.docstring_data(task), {"kind": task}
    return [
        Option("data", read, place),
        Option("task", described, f"--task {task}"),
    ]


def _read_or_exit(
    path: pathlib.Path | None, options: "Sequence[str | Option]", root: pathlib.Path
) -> "tuple[AdaptingRecipe, dict[str, Any], HandedData]":
    from firth.cli.bundles import import_base
    from firth.recipes.reading.adapting import load_adapting_with_places
    from firth.tasks.task_options import read_to_hand_down, target_sentences

    with usage_errors(ValueError):
        stated, raw = load_adapting_with_places(path, options, root, import_base)
        # Before the data are read, which may take long.
        if stated.method.adds:
            costs_of_method(stated, "finetune")
        if stated.predictions is not None:
            from firth.serving.batch.column_check import predictions_problem

            if problem := predictions_problem(stated):
                key, why = problem
                fail(f"{raw.origin(key).place}: {'.'.join(key)}: {why}", ExitCode.USAGE)
        recipe, found, handed = read_to_hand_down(stated)
        lost = target_sentences(recipe, found)
    return recipe, {**found.report(), "lost": lost}, handed


def run_seeds(recipe: "AdaptingRecipe", seeds: int, root: pathlib.Path, options: "RunOptions") -> None:
    """Runs a recipe by several seeds, from its own on, and prints and keeps their scores.

    Each run is a process of its own, so that the memory of one is free before the next. A run that is whole
    is not trained again. `<name>_seeds/seeds.json` has the scores, and those of the clean records where a
    corpus of the base was found to hold some of the others. Ends the command with a status of its own if the
    best run is not blessed; without scores, if no run is.
    """
    from firth.evaluation.record_scores import CLEAN
    from firth.pipelines import local
    from firth.reports.task_scores import scores_of_seeds
    from firth.reports.threshold_results import overall

    start = options.name or recipe.name
    results: dict[int, RunResult] = {}
    for seed in range(recipe.seed, recipe.seed + seeds):
        folder = f"{start}_seed{seed}"
        of_seed = recipe.model_copy(update={"seed": seed, "name": folder})
        named = dataclasses.replace(options, name=folder)
        results[seed] = run_in_own_process(execution.execute, local.finetune, of_seed, root, named)
    metrics = {seed: overall(result.evaluation) for seed, result in results.items()}
    scores = scores_of_seeds(metrics, recipe.task.score_names)
    of_clean = {seed: result.evaluation.get(CLEAN, {}) for seed, result in results.items()}
    clean = scores_of_seeds(of_clean, recipe.task.score_names)
    kept = root / f"{start}_seeds" / SEEDS_FILE
    runs = {str(seed): str(result.run_dir) for seed, result in results.items()}
    of_records = {"scores": scores, **({"clean": clean} if clean else {})}
    tables = {key: {each.name: each.as_json() for each in those} for key, those in of_records.items()}
    storage.write_json(kept, {"runs": runs, **tables})
    _print(scores, clean, results, kept)


def _print(
    scores: "list[ScoreOfSeeds]",
    clean: "list[ScoreOfSeeds]",
    results: "dict[int, RunResult]",
    kept: pathlib.Path,
) -> None:
    from firth.reports.task_scores import clean_words

    typer.echo("")
    for seed, result in results.items():
        values = ", ".join(f"{each.name} {each.values[seed]:.3f}" for each in scores)
        state = "" if result.blessed else ", not blessed: " + "; ".join(result.reasons)
        typer.echo(f"seed {seed}: {values}{state}  {result.run_dir}")
    for score in scores:
        typer.echo(f"held-out {score.text}")
    for score in clean:
        # The records are the same whatever the seed.
        typer.echo(f"held-out {score.text}, {clean_words(next(iter(results.values())).evaluation)}")
    typer.echo(f"scores of all seeds: {kept}")
    if not scores:
        if not any(result.blessed for result in results.values()):
            raise typer.Exit(ExitCode.NOT_BLESSED)
        return
    best = results[scores[0].best_seed]
    typer.echo("the best was chosen by these held-out records: a new run is as good as the median\n\nnext:")
    typer.echo(f"  firth report {best.run_dir.name}")
    if not best.blessed:
        raise typer.Exit(ExitCode.NOT_BLESSED)


register = commands.registrar(
    "finetune",
    _finetune,
    "firth finetune minilm --task classification --train reviews.csv --text review --label stars",
    "firth finetune minilm --task sst2 --data glue --epochs 2",
    "firth finetune minilm --task wnut17 --data wnut17 --method head",
    "firth finetune minilm --task span --train q.jsonl --text question --pair context --label answers",
    "firth finetune bert_mini --task regression --train pairs.csv --text a --pair b --label score",
    "firth finetune bert_mini --task tagging",
    "firth finetune minilm --task embedding --train pairs.csv --text question --pair answer",
    "firth finetune minilm --task rte --data glue --seeds 5",
    "firth finetune minilm --task choice --train q.csv --text start --choice a --choice b --label right",
    "firth finetune gpt2_tiny --task dialogue --train chat.jsonl",
    "firth finetune --recipe my_task.yaml --set epochs=5",
    "firth finetune --recipe my_task.yaml --beam-arg=--runner=FlinkRunner",
    "firth finetune minilm --task sst2 --data glue --metadata postgresql://firth@localhost:5432/runs",
    after="Exit codes: 0 done; 1 the run failed; 2 wrong usage, recipe or data; 3 done, but not blessed.",
)
