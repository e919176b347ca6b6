"""A small corpus that is cleaned and written by any workers, to be compared."""

import os

import apache_beam as beam

from firth import storage
from firth.corpus import SPLITS, write_outputs
from firth.recipes.corpus.cleaning import Cleaning, Split
from firth.recipes.corpus.duplicates import ExactDuplicatesStep, NearDuplicatesStep
from firth.recipes.corpus.outputs import JsonlOutput, ParquetOutput
from tests.corpus.helpers import clean, document

CLEANING = Cleaning(
    steps=(
        ExactDuplicatesStep(kind="exact_duplicates"),
        NearDuplicatesStep(kind="near_duplicates", rounds=1),
    ),
    split=Split(eval_fraction=0.3),
)


def run(folder, pipeline):
    documents = [document(f"The whale number {i % 20} rose from the sea.", f"{i}") for i in range(30)]
    report = clean(folder, documents, CLEANING, pipeline)
    counts = dict.fromkeys(SPLITS, 0)
    for row in report["splits"]:
        counts[row["split"]] += row["documents"]
    patterns = {split: f"{folder}/{split}/*" for split in SPLITS}
    outputs = [ParquetOutput(kind="parquet"), JsonlOutput(kind="jsonl")]
    write_outputs(pipeline, patterns, outputs, f"{folder}/corpus", counts)
    # The datasheet, which has the date, is the component's.
    names = storage.files_below(folder / "corpus")
    return report, {name: (folder / "corpus" / name).read_bytes() for name in names}


def parent_of_workers(folder, pipeline):
    with pipeline() as p:
        _ = p | beam.Create([0]) | beam.Map(lambda _: os.getppid()) | beam.io.WriteToText(f"{folder}/pid")
    (path,) = folder.glob("pid*")
    return int(path.read_text())
