"""A task of choices, made of docstrings: which of four texts follows a summary."""

import csv
import io

from firth.recipes.tasks.data import DocstringsData
from firth.tasks.labelled.docstring_records import YES, docstring_records
from firth.tasks.readers import LabelledRecord
from firth.tasks.readers.records import PAIR, TEXT

CHOICES = ("first", "second", "third", "fourth")
_WORDS = 20


def make_choices() -> str:
    """Returns a csv: a summary, the text after it among three others of its package, and its place."""
    found = docstring_records(DocstringsData(kind="docstrings", task="summary", max_records=10_000))
    by_package: dict[str, list[LabelledRecord]] = {}
    for record in found.records:
        if record.label == YES:
            by_package.setdefault(record.id.partition("/")[0], []).append(record)
    lines = io.StringIO()
    writer = csv.writer(lines)
    writer.writerow(["summary", *CHOICES, "right"])
    # No text is in two records, so that none that is held out is read in training.
    for records in by_package.values():
        for number, four in enumerate(zip(*[iter(records)] * len(CHOICES))):
            right = number % len(CHOICES)
            writer.writerow([four[right].texts[TEXT], *map(_cut, four), right])
    return lines.getvalue()


def _cut(record: LabelledRecord) -> str:
    return " ".join(str(record.texts[PAIR]).split()[:_WORDS])
