"""Lines on labelled data that were read, printed before anything is trained on them."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from firth.cli.output import terminal

if TYPE_CHECKING:
    from firth.recipes.run.adapting import AdaptingRecipe

# Labels that are shown with their numbers of records.
_LABELS = 8
# Rejected records that are shown with their file and line.
_REJECTED = 5


def print_labelled_data(report: Mapping[str, Any], recipe: "AdaptingRecipe") -> None:
    """Prints lines on labelled data, with rejections and repeated texts, and on the training."""
    console = terminal()
    for line in [*read_lines(report), training_line(recipe)]:
        console.print(line, markup=False, soft_wrap=True)


def training_line(recipe: "AdaptingRecipe") -> str:
    """Returns a line with the method, the epochs and the learning rate."""
    often = f"{recipe.epochs:g} epochs of about {recipe.examples_per_step} records a step"
    return (
        f"training: {recipe.method.kind}, {often}, learning rate {recipe.training.optimizer.learning_rate:g}"
    )


def read_lines(report: Mapping[str, Any]) -> list[str]:
    """Returns lines on the records read, the rejections with file and line, and the repeated texts."""
    lines = []
    for name, split in report["splits"].items():
        lines.append(f"{name}: {_records(split)}{_rest(name, report)}{rejected_text(split['rejected'])}")
        lines += [f"  {each}" for each in _rejected(split)]
        lines += [
            f"  {each}" for each in (_labels(split["labels"]), _duplicates(split["duplicates"])) if each
        ]
    told = filter(None, [report.get("told")])
    return [*lines, *told, *_in_both(report), *report.get("lost", ())]


def rejected_text(counts: Mapping[str, int]) -> str:
    """Returns the number of rejected records by reason, as the end of a line; empty for no rejection.

    Example:

    >>> rejected_text({"no_label": 1, "empty_text": 2})
    ', 3 rejected (empty_text 2, no_label 1)'
    """
    reasons = ", ".join(f"{reason} {count:,}" for reason, count in sorted(counts.items()))
    return f", {sum(counts.values()):,} rejected ({reasons})" if counts else ""


def _records(split: Mapping[str, Any]) -> str:
    file = f" of {os.path.basename(split['file'])}" if split["file"] else ""
    return f"{split['kept']:,} record{'s' * (split['kept'] != 1)}{file}"


def _rest(name: str, report: Mapping[str, Any]) -> str:
    return ", held out of those to train on" if name == "eval" and report["held_out"] else ""


def _rejected(split: Mapping[str, Any]) -> list[str]:
    shown = split["first_rejected"][:_REJECTED]
    more = sum(split["rejected"].values()) - len(shown)
    return [*shown, f"and {more:,} more"] if more else shown


def _labels(counts: Mapping[str, int]) -> str:
    if not 1 < len(counts) <= _LABELS:
        return ""
    return "labels: " + ", ".join(f"{label} {count:,}" for label, count in counts.items())


def _duplicates(found: Mapping[str, int]) -> str:
    if not found["records"]:
        return ""
    several = found["texts_with_several_labels"]
    labels = f", texts with several labels: {several:,}" if several else ""
    return f"records with the text of an earlier one: {found['records']:,}{labels}"


def _in_both(report: Mapping[str, Any]) -> list[str]:
    both, evaluated = report["in_both_splits"], report["splits"]["eval"]["kept"]
    if not both["records"]:
        return []
    other = f", {both['with_another_label']:,} with another label" if both["with_another_label"] else ""
    return [
        f"{both['records']:,} of {evaluated:,} records to evaluate on have texts that are trained on{other}: "
        "scores of them are not of new texts"
    ]
