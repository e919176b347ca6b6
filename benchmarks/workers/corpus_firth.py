"""firth's worker of `benchmarks.corpus`."""

import collections
import functools
import logging
import os
import tempfile

import apache_beam as beam
import tensorflow as tf

from benchmarks.workers import turns
from benchmarks.workers.corpus_work import CHAIN, RULES, WHOLE, read_texts
from firth.corpus import SPLITS, ReadSources, WriteRecords, curate, fork_workers
from firth.corpus.curation.clean import Clean
from firth.corpus.curation.step_table import STEPS
from firth.corpus.documents.document import Document
from firth.corpus.grouping.values import grouping_for
from firth.corpus.io.records import ReadBatches, read_batches
from firth.recipes.corpus.cleaning import Cleaning
from firth.recipes.corpus.sources import JsonlSource

# Where the defaults are not datatrove's.
SETTINGS = {
    "normalize": {"mojibake": True},
    "fineweb": {"max_duplicate_character_fraction": 0.01},
    "pii": {"types": ("email", "ipv4")},
}
BAD_WORDS = 400


def cleaning(kinds: tuple[str, ...], **settings) -> Cleaning:
    """Returns these steps, all with further settings."""
    return Cleaning.model_validate(
        {"steps": tuple({"kind": kind, **SETTINGS.get(kind, {}), **settings} for kind in kinds)}
    )


def step(kind: str, folder: str):
    """Returns a step, for which the first file of the corpus is evaluation data, or the reference."""
    first = ({"kind": "jsonl", "name": "first", "paths": (f"{folder}/000.jsonl",)},)
    settings = {
        "dataset_duplicates": {"benchmarks": first},
        "decontaminate": {"benchmarks": first},
        "classifier": {"reference_files": first},
    }.get(kind, {})
    if kind == "bad_words":
        settings = {"lists": ({"path": bad_words(folder)},)}
    return cleaning((kind,), **settings).steps[0]


@functools.cache
def bad_words(folder: str) -> str:
    """Returns a file of the rarest words of the corpus, first by the alphabet."""
    words = (word for text in read_texts(folder) for word in text.split() if word.isalpha())
    counts = collections.Counter(words)
    rarest = sorted(counts, key=lambda word: (counts[word], word))[:BAD_WORDS]
    path = f"{folder}/bad_words.txt"
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(rarest))
    return path


def rule(kind: str, folder: str) -> int:
    decide = STEPS[kind](step(kind, folder)).decide
    documents = [Document(f"{i:x}", text, "web", "", str(i)) for i, text in enumerate(read_texts(folder))]
    return sum(hasattr(decide(document), "document") for document in documents)


def pipeline_of(processes: int):
    mode = "in_memory" if processes == 1 else "multi_processing"
    argv = [f"--direct_running_mode={mode}", f"--direct_num_workers={processes}"]
    fork_workers(argv)
    return lambda: beam.Pipeline(argv=argv)


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


def corpus_step(kind: str, folder: str, processes: int) -> int:
    """Does a step that looks at documents next to one another, from firth's files to firth's files."""
    pattern = read_once(folder)
    with tempfile.TemporaryDirectory() as out:
        os.mkdir(f"{out}/scratch")
        clean = Clean([step(kind, folder)], ("jsonl",), out, grouping_for(pattern, f"{out}/scratch"))
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
    return {"kept": whole(folder, processes) if work == WHOLE else corpus_step(work, folder, processes)}


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    # No worker's turn takes in what it imports, and so not what these do.
    pipeline_of(2)
    turns.answer({"Beam": beam.__version__, "TensorFlow": tf.__version__}, do)
