"""firth's side of `benchmarks.corpus`."""

import functools
import logging
import os
import tempfile

import apache_beam as beam
import tensorflow as tf

from benchmarks.sides import turns
from benchmarks.sides.corpus_work import CHAIN, DUPLICATES, RULES, read_texts
from firth.corpus import SPLITS, ReadSources, WriteRecords, curate, fork_workers
from firth.corpus.clean import Clean
from firth.corpus.document import Document
from firth.corpus.grouping import grouping_for
from firth.corpus.records import ReadBatches, read_batches
from firth.corpus.step_table import STEPS
from firth.recipes.cleaning import Cleaning
from firth.recipes.sources import JsonlSource

# Where the defaults are not datatrove's.
SETTINGS = {
    "fineweb": {"max_duplicate_character_fraction": 0.01},
    "pii": {"types": ("email", "ipv4")},
}


def cleaning(kinds: tuple[str, ...]) -> Cleaning:
    return Cleaning.model_validate(
        {"steps": tuple({"kind": kind, **SETTINGS.get(kind, {})} for kind in kinds)}
    )


def rule(kind: str, folder: str) -> int:
    (config,) = cleaning((kind,)).steps
    step = STEPS[kind](config)
    documents = [Document(f"{i:x}", text, "web", "", str(i)) for i, text in enumerate(read_texts(folder))]
    return sum(hasattr(step.decide(document), "document") for document in documents)


def pipeline_of(processes: int):
    fork_workers()
    mode = "in_memory" if processes == 1 else "multi_processing"
    return lambda: beam.Pipeline(argv=[f"--direct_running_mode={mode}", f"--direct_num_workers={processes}"])


def read(folder: str, out: str, make_pipeline) -> None:
    source = JsonlSource(kind="jsonl", paths=(f"{folder}/*.jsonl",))
    with make_pipeline() as pipeline:
        _ = pipeline | ReadSources([source], out) | WriteRecords(f"{out}/raw")


@functools.cache
def read_once(folder: str) -> str:
    """Returns a folder with the documents in firth's own format."""
    out = tempfile.mkdtemp(dir=folder)
    read(folder, out, pipeline_of(1))
    return f"{out}/raw/*"


def duplicates(kind: str, folder: str, processes: int) -> int:
    """Looks for duplicates alone, from firth's files to firth's files."""
    pattern = read_once(folder)
    with tempfile.TemporaryDirectory() as out:
        os.mkdir(f"{out}/scratch")
        clean = Clean(cleaning((kind,)).steps, grouping=grouping_for(pattern, f"{out}/scratch"))
        with pipeline_of(processes)() as pipeline:
            kept, _ = pipeline | ReadBatches(pattern) | beam.Map(parse) | clean
            _ = kept | beam.FlatMap(serialize) | WriteRecords(f"{out}/kept")
        files = [f"{out}/kept/{name}" for name in os.listdir(f"{out}/kept")]
        return sum(len(batch) for path in files for batch in read_batches(path))


def parse(records: list[bytes]) -> list[Document]:
    return [Document.from_example(record) for record in records]


def serialize(documents: list[Document]) -> list[bytes]:
    return [document.to_example() for document in documents]


def whole(folder: str, processes: int) -> int:
    make_pipeline = pipeline_of(processes)
    with tempfile.TemporaryDirectory() as out:
        read(folder, out, make_pipeline)
        splits = {split: f"{out}/{split}" for split in SPLITS}
        report = curate(make_pipeline, out, f"{out}/raw/*", cleaning(CHAIN), splits, f"{out}/report")
    return report["funnel"][-1]["documents_kept"]


def do(work: str, folder: str, processes: int) -> dict[str, int]:
    if work in RULES:
        return {"kept": rule(work, folder)}
    return {"kept": duplicates(work, folder, processes) if work in DUPLICATES else whole(folder, processes)}


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    turns.answer({"Beam": beam.__version__, "TensorFlow": tf.__version__}, do)
