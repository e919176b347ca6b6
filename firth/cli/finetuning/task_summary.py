"""The text that is printed when a run has adapted a model to a task."""

import pathlib
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from firth import storage
from firth.cli.finetuning.read_lines import rejected_text
from firth.cli.summary import print_outcome, start_line
from firth.evaluation.constant_answers import comparison_sentences
from firth.pipelines.blessing import SERVING_REPORT
from firth.reports.distances import distance_lines
from firth.reports.task_pages.score_lines import score_lines, served_line
from firth.reports.task_pages.scores import contamination_line

if TYPE_CHECKING:
    from rich.console import Console

    from firth.pipelines.local import RunResult
    from firth.recipes.run.adapting import AdaptingRecipe

_SHOWN = 3


def print_task_summary(
    console: "Console", result: "RunResult", recipe: "AdaptingRecipe", root: pathlib.Path
) -> None:
    """Prints what was read, the scores, the blessing, and what to do next."""
    console.print()
    for line in [*data_lines(result), *distance_lines(result.outputs)]:
        console.print(line, markup=False)
    if result.start is not None:
        console.print(start_line(result.start), markup=False)
    for line in score_lines(result.evaluation, recipe.task.told_metrics):
        console.print(line, markup=False)
    if recipe.task.score_names:
        console.print(served_line(_held_out(result)), markup=False)
    console.print(contamination_line(result.contamination), markup=False)
    said = f"{_kept_bounds(recipe, result)}, and it answered as a server asks"
    print_outcome(console, result, root, said)


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
    """Returns what was read of the data, and what was rejected or cut, a line for each split."""
    records = _report(result, "LabelledExampleGen")
    rows = _report(result, "TaskRowGen")
    lines = []
    for split, found in records.get("splits", {}).items():
        made = rows.get("splits", {}).get(split, {})
        rejected = Counter(found["rejected"]) + Counter(made.get("rejected", {}))
        said = rejected_text(rejected)
        lines.append(f"{split}: {_kept(made, found['kept'])}{said}{_cut(made)}")
    lines += filter(None, [records.get("told")])
    return lines + [_mixed_line(each) for each in records.get("mixture", ())] + skew_lines(result)


def _kept(made: Mapping[str, Any], read: int) -> str:
    """Returns how many records there are rows of, and of how many windows, where texts are read in those."""
    records = made.get("read", read) - sum(made.get("rejected", {}).values())
    windows = made.get("records", records)
    return f"{records:,} records" + (f" in {windows:,} windows" if windows > records else "")


def _cut(made: Mapping[str, Any]) -> str:
    if not made.get("records_cut"):
        return ""
    cut, all_tokens = made["tokens_cut"], made["tokens"] + made["tokens_cut"]
    return f", {made['records_cut']:,} cut to fit, by {cut:,} of {all_tokens:,} tokens"


def _mixed_line(share: dict[str, Any]) -> str:
    said = f"{share['amount']:,} times of {share['available']:,} records"
    return f"mixture: {share['source']} {share['planned']:.3f}, {said}"


def skew_lines(result: "RunResult") -> list[str]:
    """Returns how the records to evaluate on differ from those to train on, a line each."""
    folder = result.outputs.get("TaskDataValidator", {}).get("found")
    found = [] if folder is None else storage.read_json(folder / "skew.json")
    shown = [f"the splits differ: {each['said']}" for each in found[:_SHOWN]]
    return [*shown, *([f"and {len(found) - _SHOWN} more differences"] if len(found) > _SHOWN else [])]


def _report(result: "RunResult", component: str) -> dict[str, Any]:
    folder = result.outputs.get(component, {}).get("examples")
    found: dict[str, Any] = {} if folder is None else storage.read_json(folder / "report.json")
    return found
