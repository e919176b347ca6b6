"""Helpers of the tests of corpus-wide steps."""

import pickle
import random
from collections.abc import Callable, Sequence

import apache_beam as beam

from firth.corpus import Document, fork_workers
from firth.corpus.curation.clean import Clean
from firth.corpus.documents.corpus_counts import DROPPED, CorpusCounts, merge_counts
from firth.corpus.documents.steps import Grouping
from firth.corpus.io.records import read_record
from firth.recipes.corpus.cleaning import step_names
from firth.recipes.corpus.duplicates import ExactDuplicatesStep, NearDuplicatesStep
from tests.corpus.helpers import make_pipeline

EXACT = ExactDuplicatesStep(kind="exact_duplicates")
# Each round costs; chains of near copies need more of them.
NEAR = NearDuplicatesStep(kind="near_duplicates", rounds=2)
OF_CHAINS = NearDuplicatesStep(kind="near_duplicates", rounds=5)
VOCABULARY = [f"w{number}" for number in range(5000)]


def make_pipeline_of_two_processes() -> beam.Pipeline:
    fork_workers()
    return beam.Pipeline(argv=["--direct_running_mode=multi_processing", "--direct_num_workers=2"])


def run_steps(
    folder,
    documents: Sequence[Document],
    *steps,
    sources: Sequence[str] = (),
    batch: int = 7,
    groups: int = 1,
    by_files: bool = False,
    pipeline: Callable[[], beam.Pipeline] = make_pipeline,
) -> tuple[list[Document], CorpusCounts]:
    """Returns the documents that steps keep, by id, and what was counted, after checking that it adds up."""
    scratch = folder / "scratch"
    scratch.mkdir(parents=True, exist_ok=True)
    batches = [list(documents[start : start + batch]) for start in range(0, len(documents), batch)] or [[]]
    with pipeline() as p:
        clean = Clean(steps, sources, str(folder), Grouping(groups, str(scratch) if by_files else ""))
        cleaned, partial_totals = p | beam.Create(batches) | clean
        totals = partial_totals | beam.Flatten() | beam.CombineGlobally(merge_counts)
        for name, values in {"kept": cleaned, "totals": totals}.items():
            _ = (
                values
                | f"Pickle[{name}]" >> beam.Map(pickle.dumps)
                | f"Write[{name}]" >> beam.io.WriteToTFRecord(f"{folder}/{name}")
            )
    (counted,) = _read(folder, "totals")
    counted.check(step_names(steps))
    kept = [document for each in _read(folder, "kept") for document in each]
    return sorted(kept, key=lambda document: document.id), counted


def _read(folder, name: str) -> list:
    found = []
    for path in sorted(folder.glob(f"{name}-*")):
        with path.open("rb") as file:
            found += map(pickle.loads, iter(lambda file=file: read_record(file), None))
    return found


def reasons(totals: CorpusCounts) -> dict[str, int]:
    counts: dict[str, int] = {}
    for flow, count in totals.documents.items():
        if flow.outcome == DROPPED:
            counts[flow.reason] = counts.get(flow.reason, 0) + count
    return counts


def sizes(totals: CorpusCounts, name: str) -> dict[int, int]:
    """Returns how many clusters or buckets of which size a step counted."""
    return {size: count for (each, size), count in totals.histograms.items() if each == name}


def random_words(generator: random.Random, count: int) -> list[str]:
    return generator.choices(VOCABULARY, k=count)


def with_changes(words: Sequence[str], changes: int) -> list[str]:
    """Returns the words with some replaced, so far apart that each takes five 5-grams along."""
    changed = list(words)
    for i in range(changes):
        changed[10 + 10 * i] = f"new{i}"
    return changed
