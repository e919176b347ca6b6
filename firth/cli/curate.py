"""`firth curate`: from a recipe's sources to a cleaned corpus and its funnel."""

import pathlib
from typing import TYPE_CHECKING, Annotated

import typer

from firth import storage
from firth.cli import commands, execution
from firth.cli.runs_on_disk import CORPUS_PAGE_FILE

if TYPE_CHECKING:
    from firth.pipelines.local import CurationResult
    from firth.recipes import Recipe

MeasureOnly = Annotated[
    bool,
    typer.Option(
        "--measure-only",
        help="Drop nothing, and count by value what the steps measure: --set cleaning.measure=only.",
    ),
]
# The table is as wide as it has to be, because names of rules must not be cut.
WIDEST = 1000


def _curate(recipe: "Recipe", execute: execution.Execute, root: pathlib.Path) -> None:
    """Reads, cleans and checks a recipe's corpus, prints the funnel, and writes a page on it.

    Only the recipe's sources and its cleaning are used.
    """
    from firth.pipelines import local

    _print_summary(execute(local.curate), root)


def _print_summary(result: "CurationResult", root: pathlib.Path) -> None:
    from rich.console import Console

    from firth.cli.summary import corpus_lines, funnel_table, next_commands, schema_lines
    from firth.corpus.report.limits import report_warnings
    from firth.reports.threshold_results import distance_lines

    console = Console(highlight=False, soft_wrap=True, width=WIDEST)
    report = storage.read_json(result.outputs["Curator"]["report"] / "corpus_report.json")
    console.print()
    console.print(funnel_table(report["funnel"]))
    console.print()
    for line in corpus_lines(report):
        console.print(line, markup=False)
    for warning in report_warnings(report):
        console.print(f"warning: {warning}", markup=False)
    console.print(f"documents: {result.outputs['Curator']['examples']}", markup=False)
    for line in [*distance_lines(result.outputs), *_output_lines(result)]:
        console.print(line, markup=False)
    console.print(f"report: {result.run_dir / CORPUS_PAGE_FILE}", markup=False)
    for line in schema_lines(result):
        console.print(line, markup=False)
    console.print("\nnext:")
    console.print(f"  {next_commands(result.run_dir.name, root, [])[0]}", markup=False)


def _output_lines(result: "CurationResult") -> list[str]:
    """Returns where the corpus is in each format of the recipe, and how large it is there."""
    if (folder := result.outputs.get("CorpusExporter", {}).get("corpus")) is None:
        return []
    lines = []
    for kind, splits in storage.read_json(folder / "outputs.json").items():
        total = {key: sum(size[key] for size in splits.values()) for key in ("files", "documents", "bytes")}
        lines.append(
            f"{kind}: {folder / kind} ({total['documents']:,} documents in {total['files']:,} files, "
            f"{total['bytes']:,} bytes)"
        )
    return lines


def _command(
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
    measure_only: MeasureOnly = False,
    workers: execution.Workers = 1,
    beam_arg: execution.BeamArgs = None,
    metadata: execution.Metadata = "",
    verbose: execution.Verbose = False,
) -> None:
    overrides = [*(overrides or ()), *(["cleaning.measure=only"] if measure_only else ())]
    execution.command_on_recipe(_curate)(
        context, recipe, base, text, jsonl, text_key, overrides, root, name, reuse_folder, workers, beam_arg,
        metadata, verbose,
    )  # fmt: skip


_command.__doc__ = _curate.__doc__

register = commands.registrar(
    "curate",
    _command,
    "firth curate my_recipe.yaml",
    "firth curate bert_mini --text 'books/*.txt' --set cleaning.limits.max_dropped_fraction=0.6",
    "firth curate my_recipe.yaml --workers 8",
    "firth curate my_recipe.yaml --measure-only --name measured",
    "firth curate my_recipe.yaml --metadata mysql://firth@localhost:3306/runs",
    "firth curate my_recipe.yaml --beam-arg=--runner=FlinkRunner --beam-arg=--parallelism=8",
    after=(
        "To train on this corpus, use firth run with the same recipe and folder. Exit codes: 0 done; "
        "1 it failed, or another run holds its folder; 2 wrong usage, recipe or source, or a corpus that "
        "breaks the recipe's limits; 130 interrupted; 143 ended by SIGTERM."
    ),
    context_settings=execution.SETTINGS,
)
