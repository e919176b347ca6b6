"""Cost of a large corpus: seconds and peak memory of each stage from reading to packing, by its size.

    python -m benchmarks.corpus_size                                  # 64 MB: parts of 8, 16, 32 and 64
    python -m benchmarks.corpus_size --megabytes 1000 --parts 0.125   # an eighth of a gigabyte
    python -m benchmarks.corpus_size --processes 2 --json figures.json

The text is made of the lines of docstrings and, where there are any, of books; some documents are copies or
near copies of others. Duplicates are looked for first, so that those steps see all of it, and then the rules
are applied. Each stage is a process of its own; memory is the resident set of that process and its children
together, looked at every tenth of a second. Times that grow with the size have the same MB/s in each row.
"""

import argparse
import datetime
import json
import os
import pathlib
import sys
import tempfile
import time

import psutil

from benchmarks.corpus_texts import made_documents, real_documents, write_jsonl

STAGES = ("read", "clean", "words", "pack")
KINDS = (
    "normalize", "exact_duplicates", "near_duplicates", "sentence_duplicates", "gopher_quality",
    "gopher_repetition", "c4", "fineweb", "language", "pii",
)  # fmt: skip
FILES = 16
LOOK_SECONDS = 0.1


def work(stage: str, folder: str, processes: int) -> None:
    """Does one stage, in a process of its own."""
    from benchmarks.workers.corpus_firth import cleaning, pipeline_of
    from firth import corpus
    from firth.corpus import SPLITS, TRAIN
    from firth.recipes.corpus.sources import JsonlSource
    from firth.recipes.tokenizers.tokenizer import Sequences, WordPieceTokenizerConfig

    make_pipeline = pipeline_of(processes)
    if stage == "read":
        source = JsonlSource(kind="jsonl", paths=(f"{folder}/text/*.jsonl",))
        with make_pipeline() as pipeline:
            documents = pipeline | corpus.ReadSources([source], folder)
            _ = documents | corpus.WriteRecords(f"{folder}/raw")
    elif stage == "clean":
        splits = {split: f"{folder}/{split}" for split in SPLITS}
        corpus.curate(make_pipeline, folder, f"{folder}/raw/*", cleaning(KINDS), splits, folder)
    elif stage == "words":
        config = WordPieceTokenizerConfig()
        counts = corpus.count_corpus_words(make_pipeline, f"{folder}/{TRAIN}/*", config, folder)
        corpus.train_tokenizer(counts, config, f"{folder}/tokenizer")
    else:
        splits = {split: f"{folder}/{split}/*" for split in SPLITS}
        rows = {split: f"{folder}/rows/{split}" for split in SPLITS}
        corpus.make_sequences(make_pipeline, splits, f"{folder}/tokenizer", Sequences(), 3, 125, rows, folder)


def measure(stage: str, folder: str, processes: int) -> dict[str, float]:
    """Returns seconds and peak megabytes of a stage."""
    start, peak = time.perf_counter(), 0
    command = [sys.executable, "-m", "benchmarks.corpus_size", "--stage", stage, "--folder", folder]
    process = psutil.Popen([*command, "--processes", str(processes)])
    while process.poll() is None:
        peak = max(peak, resident(process))
        time.sleep(LOOK_SECONDS)
    if process.returncode:
        raise SystemExit(f"stage {stage!r} ended with {process.returncode}")
    return {"seconds": time.perf_counter() - start, "peak_megabytes": peak / 1e6}


def resident(process: psutil.Process) -> int:
    size = 0
    try:
        for each in [process, *process.children(recursive=True)]:
            size += each.memory_info().rss
    except psutil.NoSuchProcess:
        pass
    return size


def measure_part(texts: list[str], megabytes: float, processes: int) -> dict:
    """Returns the figures of a corpus of so many megabytes, by stage."""
    with tempfile.TemporaryDirectory() as folder:
        documents, size = write_jsonl(made_documents(texts, megabytes), pathlib.Path(folder, "text"), FILES)
        stages = {stage: measure(stage, folder, processes) for stage in STAGES}
        funnel = json.loads(pathlib.Path(folder, "corpus_report.json").read_text())["funnel"]
    kept = {row["step"]: row["documents_kept"] for row in funnel}
    return {"documents": documents, "bytes": size, "stages": stages, "kept": kept}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--megabytes", type=float, default=64.0)
    parser.add_argument("--parts", type=float, nargs="*", default=(0.125, 0.25, 0.5, 1.0))
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--json", type=pathlib.Path, help="where to write the figures")
    parser.add_argument("--stage", choices=STAGES, help=argparse.SUPPRESS)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.stage:
        work(options.stage, options.folder, options.processes)
        return
    texts = real_documents(25.0)
    print(f"{datetime.date.today()}, {os.cpu_count()} cores, {options.processes} processes", flush=True)
    figures = []
    for part in options.parts:
        row = measure_part(texts, part * options.megabytes, options.processes)
        figures.append(row)
        seconds = sum(stage["seconds"] for stage in row["stages"].values())
        print(f"{row['bytes'] / 1e6:8.1f} MB {row['documents']:9,} documents {seconds:8.1f} s", end="")
        for name, stage in row["stages"].items():
            speed = row["bytes"] / stage["seconds"] / 1e6
            print(
                f" | {name} {stage['seconds']:.1f} s {speed:.2f} MB/s {stage['peak_megabytes']:.0f} MB",
                end="",
            )
        print(f" | kept {row['kept']}", flush=True)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
