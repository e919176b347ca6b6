"""Runs of one recipe with several seeds, one after another, and how far their scores are apart."""

import pathlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from firth import storage
from firth.cli import execution
from firth.cli.finetuning.own_process import in_own_process
from firth.cli.output import ExitCode

if TYPE_CHECKING:
    from firth.pipelines.local import RunResult
    from firth.recipes.run.adapting import AdaptingRecipe
    from firth.reports.task_pages.seeds import ScoreOfSeeds

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


def run_seeds(
    recipe: "AdaptingRecipe",
    seeds: int,
    root: pathlib.Path,
    name: str | None,
    verbose: bool,
    reuse: bool,
    metadata: str = "",
    beam_pipeline_args: Sequence[str] = (),
) -> None:
    """Runs a recipe by several seeds, from its own on, and prints and keeps what their scores are.

    Each run is a process of its own, so that the memory of one is free before the next.

    A run that is whole is not trained again, so that the same command goes on after it was stopped, and more
    seeds may be asked for later. `<name>_seeds/seeds.json` has the scores, and those of the clean
    records where a corpus of the base was found to hold some of the others. Ends the command with a status of
    its own if the best run is not blessed; without scores, if no run is.
    """
    from firth.evaluation.record_scores import CLEAN
    from firth.pipelines import local
    from firth.reports.task_pages.seeds import scores_of_seeds
    from firth.reports.threshold_results import overall

    start = name or recipe.name
    results: dict[int, RunResult] = {}
    for seed in range(recipe.seed, recipe.seed + seeds):
        folder = f"{start}_seed{seed}"
        of_seed = recipe.model_copy(update={"seed": seed, "name": folder})
        options = (verbose, beam_pipeline_args, reuse, metadata)
        run = in_own_process(execution.execute, local.finetune, of_seed, root, folder, *options)
        results[seed] = run
    metrics = {seed: overall(result.evaluation) for seed, result in results.items()}
    scores = scores_of_seeds(metrics, recipe.task.scores)
    of_clean = {seed: result.evaluation.get(CLEAN, {}) for seed, result in results.items()}
    clean = scores_of_seeds(of_clean, recipe.task.scores)
    kept = root / f"{start}_seeds" / SEEDS_FILE
    runs = {str(seed): str(result.run_dir) for seed, result in results.items()}
    said = {"scores": scores, **({"clean": clean} if clean else {})}
    tables = {key: {each.name: each.as_json() for each in those} for key, those in said.items()}
    storage.write_json(kept, {"runs": runs, **tables})
    _print(scores, clean, results, kept)


def _print(
    scores: "list[ScoreOfSeeds]",
    clean: "list[ScoreOfSeeds]",
    results: "dict[int, RunResult]",
    kept: pathlib.Path,
) -> None:
    from firth.reports.task_pages.scores import clean_words

    typer.echo("")
    for seed, result in results.items():
        said = ", ".join(f"{each.name} {each.values[seed]:.3f}" for each in scores)
        state = "" if result.blessed else ", not blessed: " + "; ".join(result.reasons)
        typer.echo(f"seed {seed}: {said}{state}  {result.run_dir}")
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
