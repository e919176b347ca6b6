"""Finds of personal data in a table of 500 values and 500 lookalikes of 20 countries and more.

    FIRTH_PRESIDIO_PYTHON=build/presidio/bin/python python -m benchmarks.pii

The table is that of `tests/corpus/privacy/pii_table_test.py`. A value is found by whatever of its type is in
its place, in part at least. Presidio runs with all recognisers that look for patterns, of every country,
without a language model, from two least scores on; detect-secrets as it comes. firth knows the country of a
row and the United States, as a recipe's `phone_regions` says. Nothing here is timed.
"""

import argparse
import json
import os
import subprocess
from collections import Counter
from collections.abc import Iterable

from firth.corpus.privacy.pii import Pii
from firth.recipes.corpus.privacy import PiiStep
from tests.corpus.privacy.pii_table_test import TABLE

WORKER = "benchmarks.workers.pii_peers"
LEAST_SCORES = (0.3, 0.5)
Found = list[list[tuple[int, int, str]]]


def firth() -> Found:
    steps: dict[str, Pii] = {}
    found = []
    for row in TABLE:
        if row.country not in steps:
            regions = tuple(dict.fromkeys(("US", row.country)))
            steps[row.country] = Pii(PiiStep(kind="pii", phone_regions=regions))
        found.append([(each.start, each.end, each.type) for each in steps[row.country].find(row.text)])
    return found


def peers(python: str) -> dict[str, Found]:
    texts = "".join(json.dumps(row.text) + "\n" for row in TABLE)
    done = subprocess.run(
        [python, "-m", WORKER],
        input=texts,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=True,
    )
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return {
        f"presidio and detect-secrets, scores from {least}": [
            [(start, end, kind) for start, end, kind, score in row if score >= least] for row in rows
        ]
        for least in LEAST_SCORES
    }


def count(found: Found) -> tuple[Counter, int]:
    """Returns the values found by type, and the lookalikes in which something was found."""
    hits: Counter = Counter()
    for row, of_row in zip(TABLE, found, strict=True):
        for value in row.expected:
            overlaps = (
                kind == value.type and start < value.end and end > value.start for start, end, kind in of_row
            )
            hits[value.type] += any(overlaps)
    return hits, sum(bool(of_row) for row, of_row in zip(TABLE, found) if not row.expected)


def lines(finders: dict[str, Found]) -> Iterable[str]:
    values = Counter(value.type for row in TABLE for value in row.expected)
    counts = {name: count(found) for name, found in finders.items()}
    yield "| type | values | " + " | ".join(counts) + " |"
    yield "|---|" + "---|" * (1 + len(counts))
    for kind, total in values.items():
        yield f"| {kind} | {total} | " + " | ".join(str(hits[kind]) for hits, _ in counts.values()) + " |"
    lookalikes = sum(not row.expected for row in TABLE)
    yield (
        f"| lookalikes taken for values | of {lookalikes} | "
        + " | ".join(str(n) for _, n in counts.values())
        + " |"
    )


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter).parse_args()
    python = os.environ.get("FIRTH_PRESIDIO_PYTHON")
    finders = {"firth": firth(), **(peers(python) if python else {})}
    print(*lines(finders), sep="\n")
    if not python:
        print("FIRTH_PRESIDIO_PYTHON names no interpreter with presidio-analyzer and detect-secrets.")


if __name__ == "__main__":
    main()
