"""Helpers of the tests of corpus-wide steps."""

import pickle
import random
from collections.abc import Callable, Sequence

import apache_beam as beam

from firth.corpus import Document, fork_workers
from firth.corpus.curation.clean import Clean
from firth.corpus.documents.corpus_counts import DROPPED, CorpusCounts, merge_counts
from firth.corpus.documents.steps import Grouping
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
    for path in [*folder.glob("kept-*"), *folder.glob("totals-*")]:
        path.unlink()
    batches = [list(documents[start : start + batch]) for start in range(0, len(documents), batch)] or [[]]
    with pipeline() as p:
        clean = Clean(steps, sources, str(folder), Grouping(groups, str(scratch) if by_files else ""))
        cleaned, partial_totals = p | beam.Create(batches) | clean
        totals = partial_totals | beam.Flatten() | beam.CombineGlobally(merge_counts)
        write_pickles(cleaned, folder, "kept")
        write_pickles(totals, folder, "totals")
    (counted,) = read_pickles(folder, "totals")
    counted.check(step_names(steps))
    kept = [document for each in read_pickles(folder, "kept") for document in each]
    return sorted(kept, key=lambda document: document.id), counted


def write_pickles(values: beam.PCollection, folder, name: str) -> None:
    """Writes each value to a file of its own, in one stage: Beam's sinks have a dozen."""

    # Pickled by value: workers of their own would take seconds to import this module.
    def write(value, start=f"{folder}/{name}-"):
        import pickle
        import uuid

        with open(f"{start}{uuid.uuid4().hex}", "wb") as file:
            pickle.dump(value, file)

    _ = values | f"Write[{name}]" >> beam.Map(write)


def read_pickles(folder, name: str) -> list:
    """Returns the values of the files of a name, in no order."""
    return [pickle.loads(path.read_bytes()) for path in folder.glob(f"{name}-*")]


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
