"""firth's side of `benchmarks.corpus`."""

import logging
import tempfile

import apache_beam as beam
import tensorflow as tf

from benchmarks.sides import turns
from benchmarks.sides.corpus_work import CHAIN, RULES, read_texts
from firth.corpus import SPLITS, ReadSources, WriteRecords, curate
from firth.corpus.document import Document
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
    mode = "in_memory" if processes == 1 else "multi_processing"
    return lambda: beam.Pipeline(argv=[f"--direct_running_mode={mode}", f"--direct_num_workers={processes}"])


def from_files_to_files(kinds: tuple[str, ...], folder: str, processes: int) -> int:
    make_pipeline = pipeline_of(processes)
    source = JsonlSource(kind="jsonl", paths=(f"{folder}/*.jsonl",))
    with tempfile.TemporaryDirectory() as out:
        with make_pipeline() as pipeline:
            documents = pipeline | ReadSources([source], out)
            _ = documents | WriteRecords(f"{out}/raw")
        splits = {split: f"{out}/{split}" for split in SPLITS}
        report = curate(make_pipeline, out, f"{out}/raw/*", cleaning(kinds), splits, f"{out}/report")
    return report["funnel"][-1]["documents_kept"]


def do(work: str, folder: str, processes: int) -> dict[str, int]:
    if work in RULES:
        return {"kept": rule(work, folder)}
    kinds = CHAIN if work == "whole" else (work,)
    return {"kept": from_files_to_files(kinds, folder, processes)}


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    turns.answer({"Beam": beam.__version__, "TensorFlow": tf.__version__}, do)
