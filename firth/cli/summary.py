"""The text that is printed when a run has ended, of pre-training or of fine-tuning."""

import pathlib
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from firth import storage
from firth.cli import commands
from firth.cli.finetuning.labelled_data import rejected_text
from firth.cli.runs_on_disk import REPORT_FILE
from firth.evaluation.constant_answers import comparison_sentences
from firth.pipelines.results import SERVING_REPORT
from firth.reports.corpus_view import FunnelLine, funnel_lines
from firth.reports.page import tensorboard_command
from firth.reports.quantities import bytes_text
from firth.reports.record import main_perplexity
from firth.reports.task_scores import contamination_line, score_lines, served_line
from firth.reports.threshold_results import distance_lines, overall

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from firth.pipelines.local import CurationResult, RunResult
    from firth.recipes import Recipe
    from firth.recipes.run.adapting import AdaptingRecipe

COLUMNS = ("step", "in", "kept", "lost", "share", "bytes kept")
_SHOWN = 3


def print_summary(console: "Console", result: "RunResult", recipe: "Recipe", root: pathlib.Path) -> None:
    """Prints the evaluation, the blessing, the paths of the results, and the commands for the next steps."""
    metrics = overall(result.evaluation)
    console.print()
    if (folder := result.outputs.get("Curator", {}).get("report")) is not None:
        report = storage.read_json(folder / "corpus_report.json")
        for line in corpus_lines(report):
            console.print(line, markup=False)
    for line in distance_lines(result.outputs):
        console.print(line, markup=False)
    if result.start is not None:
        console.print(start_line(result.start), markup=False)
    console.print(perplexity_line(metrics, recipe.goal.loss_terms[0].title))
    kept = "kept its thresholds" if recipe.evaluation.thresholds else "has finite metrics (no thresholds)"
    print_outcome(console, result, root, f"the model {kept} and answered as a server would ask it")
    if (curves := result.outputs.get("Trainer", {}).get("model_run")) is not None:
        console.print(f"  {tensorboard_command(str(curves))}", markup=False)


def print_outcome(console: "Console", result: "RunResult", root: pathlib.Path, text: str) -> None:
    """Prints the blessing, the served version, the paths of the results, and the next commands."""
    from rich.markup import escape

    if result.blessed:
        console.print(f"[green]blessed[/]: {text}")
    else:
        console.print("[red]not blessed[/]:", escape("; ".join(result.reasons)))
    console.print(f"pushed: {result.pushed or 'nothing'}")
    if result.pushed is None and result.bundle is not None:
        console.print(f"kept: {result.bundle}", markup=False)
    if result.served not in (None, result.pushed):
        console.print(f"still served: {result.served}, which an earlier run pushed")
    description = {} if result.pushed is None else description_of(result.pushed)
    for line in weights_lines(description):
        console.print(line, markup=False)
    console.print(f"report: {result.run_dir / REPORT_FILE}")
    for line in schema_lines(result):
        console.print(line, markup=False)
    console.print("\nnext:")
    asked = ask_with(description.get("signatures", {}))
    for command in next_commands(result.run_dir.name, root, asked):
        console.print(f"  {command}", markup=False)


def schema_lines(result: "CurationResult") -> list[str]:
    """Returns the path of the schema of the sources' records, if this run wrote it, and how to pin it."""
    if result.new_schema is None:
        return []
    return [
        f"schema: {result.new_schema}, which later runs here are checked against; to pin it in a recipe:",
        f"  source_schema: {result.new_schema}",
    ]


def perplexity_line(metrics: dict[str, float], title: str) -> str:
    """Returns the model's perplexity next to the unigram baseline's.

    Example:

    >>> perplexity_line({"text_perplexity": 211.3, "unigram_perplexity": 845.2}, "masked LM")
    'held-out masked LM perplexity: [bold]211.3[/], against 845.2 of the unigram baseline'
    """
    model = main_perplexity(metrics)
    unigram = metrics.get("unigram_perplexity")
    if model is None or unigram is None:
        return "held-out perplexity: not recorded"
    return (
        f"held-out {title} perplexity: [bold]{model:,.1f}[/], against {unigram:,.1f} of the unigram baseline"
    )


def start_line(start: Mapping[str, Any]) -> str:
    """Returns a line with the bundle that a run started from, and the layers that were made fresh.

    Example:

    >>> start = {"bundle": "minilm/bundle", "optimizer": "fresh", "fresh_layers": ["heads/masked_lm_head"]}
    >>> start_line(start)
    'went on from minilm/bundle; made fresh: heads/masked_lm_head, the optimizer'
    """
    fresh = [*start["fresh_layers"], *(["the optimizer"] if start["optimizer"] == "fresh" else [])]
    return f"went on from {start['bundle']}; made fresh: {', '.join(fresh) or 'nothing'}"


def ask_with(signatures: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Returns the requests that a model answers, as arguments of `firth predict`.

    Example:

    >>> ask_with({"score": {"example": {"text": "A sentence", "target": "and its end."}}})
    ["score 'A sentence' --target 'and its end.'"]
    """
    asked = []
    for name, described in signatures.items():
        if example := described["example"]:
            lists = described.get("lists", {})
            (_, text), *more = (
                (key, lists[key].join(each) if key in lists else each) for key, each in example.items()
            )
            others = (f" --{key} {shlex.quote(each)}" for key, each in more)
            asked.append(f"{name.replace('_', '-')} {shlex.quote(text)}{''.join(others)}")
    return asked


def weights_lines(description: Mapping[str, Any]) -> list[str]:
    """Returns a line on the type that weights are stored in; none if it is the type of the model.

    Example:

    >>> weights_lines({"weights": {"type": "float32", "bytes": 400, "float32_bytes": 400}})
    []
    """
    from firth.serving.exported_model import weights_line

    weights = description.get("weights", {})
    changed = weights.get("bytes") != weights.get("float32_bytes")
    return [f"weights: {weights_line(weights)}"] if changed else []


def description_of(pushed: pathlib.Path) -> dict[str, Any]:
    """Returns the description of an exported model; empty if an earlier version exported it."""
    from firth.serving.exported_model import read_description

    try:
        return read_description(str(pushed))
    except ValueError:
        # A cached run may end with a model that an earlier version exported.
        return {}


def next_commands(name: str, root: pathlib.Path, asked: list[str], has_report: bool = True) -> list[str]:
    """Returns the commands for the next steps, ready to be pasted.

    Example:

    >>> next_commands("demo", pathlib.Path("firth-runs"), ["embed 'A sentence.'"])
    ['firth report demo --open', "firth predict demo embed 'A sentence.'", 'firth serve demo']
    """
    place = commands.root_option(root)
    run = shlex.quote(name)
    reports = [f"firth report {run}{place} --open"] if has_report else []
    # Signatures are asked of an exported model alone, which is also the one that is served.
    served = [f"firth serve {run}{place}"] if asked else []
    return [*reports, *(f"firth predict {run}{place} {arguments}" for arguments in asked), *served]


def funnel_table(funnel: Sequence[Mapping[str, Any]]) -> "Table":
    """Returns a row for each step, over all sources, and below it one for each reason."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for column in COLUMNS:
        table.add_column(column, justify="left" if column == "step" else "right", no_wrap=True)
    steps: dict[str, list[FunnelLine]] = {}
    for line in funnel_lines(funnel):
        steps.setdefault(line.step, []).append(line)
    for step, (came, *losses, kept) in steps.items():
        lost = came.documents - kept.documents
        sizes = f"{came.documents:,}", f"{kept.documents:,}", f"{lost:,}", _share(lost, came)
        table.add_row(f"[bold]{step}[/]", *sizes, bytes_text(kept.bytes))
        for loss in losses:
            count, share = f"{loss.documents:,}", _share(loss.documents, came)
            table.add_row(f"  {loss.what}", "", "", count, share, "", style="dim")
    return table


def corpus_lines(report: Mapping[str, Any]) -> list[str]:
    """Returns the documents of a corpus report in words, and the files that an interrupted run had cleaned.

    Example:

    >>> corpus_lines({"funnel": [], "continued_files": 3})[1:]
    ['cleaning: 3 files from an earlier run']
    """
    continued = report.get("continued_files", 0)
    line = f"cleaning: {continued:,} file{'' if continued == 1 else 's'} from an earlier run"
    return [corpus_line(report["funnel"]), *([line] if continued else [])]


def corpus_line(funnel: Sequence[Mapping[str, Any]]) -> str:
    """Returns the numbers of documents read, kept, dropped and rejected, in words.

    Example:

    >>> rejected = {"invalid_utf8": {"documents": 2}}
    >>> dropped = {"too_few_words": {"documents": 3}}
    >>> read = {"step": "read", "documents_in": 9, "dropped": {}, "rejected": rejected}
    >>> length = {"step": "length", "documents_in": 7, "dropped": dropped, "rejected": {}}
    >>> corpus_line([read, length])
    'corpus: 9 documents read, 4 kept, 3 dropped (too_few_words 3), 2 rejected (invalid_utf8 2)'
    """
    read = sum(row["documents_in"] for row in funnel if row["step"] == funnel[0]["step"])
    counts = {"dropped": Counter[str](), "rejected": Counter[str]()}
    for row in funnel:
        for fate, reasons in counts.items():
            reasons.update({reason: count["documents"] for reason, count in row[fate].items()})
    kept = read - sum(reasons.total() for reasons in counts.values())
    parts = [f"{read:,} documents read", f"{kept:,} kept"]
    for fate, reasons in counts.items():
        named = ", ".join(f"{reason} {count:,}" for reason, count in reasons.most_common())
        parts.append(f"{reasons.total():,} {fate}" + (f" ({named})" if named else ""))
    return f"corpus: {', '.join(parts)}"


def _share(documents: int, came: FunnelLine) -> str:
    return f"{100 * documents / max(came.documents, 1):.2f} %"


def print_task_summary(
    console: "Console", result: "RunResult", recipe: "AdaptingRecipe", root: pathlib.Path
) -> None:
    """Prints the counts of records, the scores, the blessing, and the commands for the next steps."""
    console.print()
    for line in [*data_lines(result), *distance_lines(result.outputs)]:
        console.print(line, markup=False)
    if result.start is not None:
        console.print(start_line(result.start), markup=False)
    for line in score_lines(result.evaluation, recipe.task.headline_metrics):
        console.print(line, markup=False)
    if recipe.task.score_names:
        console.print(served_line(_held_out(result)), markup=False)
    console.print(contamination_line(result.contamination), markup=False)
    text = f"{_kept_bounds(recipe, result)}, and it answered as a server asks"
    print_outcome(console, result, root, text)


def _kept_bounds(recipe: "AdaptingRecipe", result: "RunResult") -> str:
    """Returns the bounds that a blessed model kept, in words."""
    if recipe.evaluation.thresholds:
        return "its scores kept their thresholds"
    if not recipe.evaluation.compares_with_constant:
        return "its scores are finite numbers, compared with nothing (evaluation.beats_constant: false)"
    return "; ".join(comparison_sentences(result.evaluation, recipe.task).values())


def _held_out(result: "RunResult") -> dict[str, Any] | None:
    """Returns the headline score as the exported model's own signature answers held-out records."""
    folder = result.outputs.get("ServingValidator", {}).get("report")
    report: dict[str, Any] = {} if folder is None else storage.read_json(folder / SERVING_REPORT)
    return report.get("held_out")


def data_lines(result: "RunResult") -> list[str]:
    """Returns a line for each split with the numbers of records read, rejected and cut."""
    records = _report(result, "LabelledExampleGen")
    rows = _report(result, "TaskRowGen")
    lines = []
    for split, found in records.get("splits", {}).items():
        made = rows.get("splits", {}).get(split, {})
        rejected = Counter(found["rejected"]) + Counter(made.get("rejected", {}))
        text = rejected_text(rejected)
        lines.append(f"{split}: {_kept(made, found['kept'])}{text}{_cut(made)}")
    lines += filter(None, [records.get("told")])
    return lines + [_mixed_line(each) for each in records.get("mixture", ())] + skew_lines(result)


def _kept(made: Mapping[str, Any], read: int) -> str:
    """Returns the number of records in rows, and of windows if texts are read in windows."""
    records = made.get("read", read) - sum(made.get("rejected", {}).values())
    windows = made.get("records", records)
    return f"{records:,} records" + (f" in {windows:,} windows" if windows > records else "")


def _cut(made: Mapping[str, Any]) -> str:
    if not made.get("records_cut"):
        return ""
    cut, all_tokens = made["tokens_cut"], made["tokens"] + made["tokens_cut"]
    return f", {made['records_cut']:,} cut to fit, by {cut:,} of {all_tokens:,} tokens"


def _mixed_line(share: dict[str, Any]) -> str:
    text = f"{share['amount']:,} times of {share['available']:,} records"
    return f"mixture: {share['source']} {share['planned']:.3f}, {text}"


def skew_lines(result: "RunResult") -> list[str]:
    """Returns a line for each difference between the records to evaluate on and those to train on."""
    folder = result.outputs.get("TaskDataValidator", {}).get("found")
    found = [] if folder is None else storage.read_json(folder / "skew.json")
    shown = [f"the splits differ: {each['said']}" for each in found[:_SHOWN]]
    return [*shown, *([f"and {len(found) - _SHOWN} more differences"] if len(found) > _SHOWN else [])]


def _report(result: "RunResult", component: str) -> dict[str, Any]:
    folder = result.outputs.get(component, {}).get("examples")
    return {} if folder is None else storage.read_json(folder / "report.json")
