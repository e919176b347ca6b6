"""The scores of held-out records as lines of text, next to what they are compared with."""

from collections.abc import Mapping, Sequence
from typing import Any

from firth.evaluation.record_scores import LEAD
from firth.reports.task_pages.scores import (
    Evaluation,
    HeldOutScore,
    clean_scores,
    clean_words,
    held_out_scores,
    whole_and_clean,
)
from firth.reports.threshold_results import overall


def score_lines(evaluation: Evaluation, names: Sequence[str]) -> list[str]:
    r"""Returns the scores of the held-out records, each with its interval where there is one.

    Where a corpus was found to hold some of the records, the scores without these stand in a second line.
    Scores of summaries are followed by those of Lead-3, the first three sentences of each text.

    Example:

    >>> score_lines({"overall": {"f1": 0.9, "f1_low": 0.85, "f1_high": 0.94}}, ("f1",))
    ['held-out f1: 0.900 (0.850 to 0.940)']
    >>> whole, clean = {"accuracy": 0.9, "example_count": 10.0}, {"accuracy": 0.75, "example_count": 4.0}
    >>> print("\n".join(score_lines({"overall": whole, "subset=clean": clean}, ("accuracy",))))
    held-out accuracy: 0.900, whole: all 10 records
    held-out accuracy: 0.750, clean: the 4 records not found in the corpus of the base
    >>> score_lines({"overall": {"rouge_l": 0.25}, "baseline=lead_3": {"rouge_l": 0.375}}, ("rouge_l",))
    ['held-out rouge_l: 0.250', 'Lead-3, the first three sentences: rouge_l: 0.375']
    """
    said = f"held-out {_joined(held_out_scores(overall(evaluation), names)) or 'scores: not recorded'}"
    first = held_out_scores(evaluation.get(LEAD, {}), names)
    baseline = [f"Lead-3, the first three sentences: {_joined(first)}"] if first else []
    if (numbers := whole_and_clean(evaluation)) is None:
        return [said, *baseline]
    return [f"{said}, whole: all {numbers[0]:,} records", *clean_lines(evaluation, names), *baseline]


def served_line(found: Mapping[str, Any] | None) -> str:
    """Returns the headline score by the signature that is served, next to that of the same records' rows.

    Example:

    >>> found = {"score": "entity_f1", "signature": "tag_words", "served": 0.8125, "scored": 0.8125}
    >>> served_line({**found, "records": 1000, "of": 3250, "cut": 0})
    'as served: entity_f1: 0.812500 by tag_words, 0.812500 by rows, of 1,000 of 3,250 held-out records'
    """
    if found is None:
        return "as served: not scored"
    score, values = found["score"], (found["served"], found["scored"])
    of = f" of {found['of']:,}" if found["of"] > found["records"] else ""
    cut = f"; {found['cut']:,} that rows hold a part of are read whole" if found["cut"] else ""
    served, scored = ("no number" if each is None else f"{each:.6f}" for each in values)
    return (
        f"as served: {score}: {served} by {found['signature']}, {scored} by rows, of "
        f"{found['records']:,}{of} held-out records{cut}"
    )


def clean_lines(evaluation: Evaluation, names: Sequence[str]) -> list[str]:
    """Returns the scores of the clean records in a line; no line where whole and clean are the same.

    Example:

    >>> clean = {"f1": 0.5, "example_count": 4.0}
    >>> clean_lines({"overall": {"example_count": 10.0}, "subset=clean": clean}, ("f1",))
    ['held-out f1: 0.500, clean: the 4 records not found in the corpus of the base']
    """
    found = clean_scores(evaluation, names)
    return [f"held-out {_joined(found)}, {clean_words(evaluation)}"] if found else []


def _joined(scores: Sequence[HeldOutScore]) -> str:
    return ", ".join(each.text for each in scores)
