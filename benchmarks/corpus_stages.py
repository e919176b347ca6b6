"""Documents a second of each Beam step of the corpus, on docstrings, one worker, DirectRunner in memory.

python -m benchmarks.corpus_stages [--runs 3] [--json figures.json]
"""

import argparse
import json
import os
import pathlib
import statistics
import tempfile
import time
from collections.abc import Callable

import apache_beam as beam

from firth.corpus import (
    SPLITS,
    TRAIN,
    ReadSources,
    WriteRecords,
    check_sources,
    count_corpus_words,
    curate,
    make_sequences,
    train_tokenizer,
)
from firth.recipes.corpus.cleaning import Cleaning
from firth.recipes.corpus.sources import DocstringsSource
from firth.recipes.tokenizers.tokenizer import Sequences, WordPieceTokenizerConfig

SOURCE = DocstringsSource(
    kind="docstrings", packages=("numpy", "pandas", "sklearn", "matplotlib"), standard_library=False
)
CONFIG = WordPieceTokenizerConfig(vocabulary_size=8192)
SPECIAL_TOKENS = 3


def make_pipeline() -> beam.Pipeline:
    return beam.Pipeline(argv=["--direct_running_mode=in_memory", "--direct_num_workers=1"])


def read(folder: str) -> None:
    with make_pipeline() as pipeline:
        documents = pipeline | ReadSources([SOURCE], folder)
        _ = documents | WriteRecords(f"{folder}/raw")
    check_sources(folder)


def clean(folder: str) -> None:
    splits = {split: f"{folder}/{split}" for split in SPLITS}
    curate(make_pipeline, folder, f"{folder}/raw/*", Cleaning(), splits, folder)


def count_and_train(folder: str) -> None:
    words = count_corpus_words(make_pipeline, f"{folder}/{TRAIN}/*", CONFIG, folder)
    train_tokenizer(words, CONFIG, f"{folder}/tokenizer")


def pack(folder: str) -> None:
    make_sequences(
        make_pipeline,
        {split: f"{folder}/{split}/*" for split in SPLITS},
        f"{folder}/tokenizer",
        Sequences(),
        SPECIAL_TOKENS,
        Sequences().length - SPECIAL_TOKENS,
        {split: f"{folder}/rows/{split}" for split in SPLITS},
        folder,
    )


STEPS: dict[str, Callable[[str], None]] = {
    "read": read,
    "clean": clean,
    "count words and train": count_and_train,
    "tokenize and pack": pack,
}


def run_once() -> tuple[dict[str, float], int, int]:
    """Returns seconds by step, and documents and bytes read."""
    seconds = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, step in STEPS.items():
            start = time.perf_counter()
            step(folder)
            seconds[name] = time.perf_counter() - start
        report = json.loads(pathlib.Path(folder, "corpus_report.json").read_text())
    first = report["funnel"][0]
    return seconds, first["documents_kept"], first["bytes_kept"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    run_once()  # Imports, file caches and the graph of the tokenizer are paid here.
    runs = [run_once() for _ in range(arguments.runs)]
    _, documents, size = runs[0]
    figures = {
        "documents": documents,
        "bytes": size,
        "runs": arguments.runs,
        "cpus": os.cpu_count(),
        "steps": {},
    }
    for name in STEPS:
        seconds = statistics.median(seconds[name] for seconds, _, _ in runs)
        figures["steps"][name] = {
            "seconds": round(seconds, 2),
            "documents_per_second": round(documents / seconds),
            "megabytes_per_second": round(size / seconds / 1e6, 2),
        }
    print(f"{documents} documents, {size / 1e6:.1f} MB; medians of {arguments.runs} runs, one worker")
    for name, step in figures["steps"].items():
        print(
            f"{name:22} {step['seconds']:7.2f} s {step['documents_per_second']:8} documents/s "
            f"{step['megabytes_per_second']:6.2f} MB/s"
        )
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
