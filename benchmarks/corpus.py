"""Cleaning a corpus next to datatrove: the same rules on the same files in the same minute.

    python -m benchmarks.corpus                                   # all rows, on one process, then on two
    python -m benchmarks.corpus c4 near_duplicates --rounds 5 --json figures.json
    python -m benchmarks.corpus --datatrove-python PYTHON         # or FIRTH_DATATROVE_PYTHON=PYTHON

datatrove runs in an interpreter of its own, PYTHON; without it its columns are left out. It is measured
twice: as it comes, with spaCy's words; and with words at spaces, which are firth's and quicker to tell.
Thresholds are the same. A step for which it has nothing that works without the network is firth's alone.

Rules are measured alone on documents in memory; steps on the whole corpus from files to files, in each
library's own format, with the first of the files as evaluation data and reference; and `whole` (the five
rules of quality and privacy, then near duplicates) from JSONL files to files, where firth also splits and
reports.
firth runs on Beam's runner in memory for one process and `multi_processing`, with forked workers, for two.
The text is docstrings, and pieces of books where there are any; for two processes as much is made of its
lines as `--made` says.
They take turns, the first round is thrown away, figures are medians; documents/s and MB/s are of what comes
in, by wall time. A row where a peer is ahead is marked BEHIND.
"""

import argparse
import datetime
import json
import os
import pathlib
import statistics
import sys
import tempfile

from benchmarks.corpus_texts import made_documents, real_documents, write_jsonl
from benchmarks.workers.corpus_work import ALONE, CORPUS_STEPS, RULES, WHOLE
from benchmarks.workers.turns import Worker

FIRTH, SPACY, SPACES = "firth", "datatrove", "datatrove, words at spaces"
FILES = 8
FROM_FILES = (*CORPUS_STEPS, WHOLE)
WORKS = (*RULES, *FROM_FILES)


def start_workers(python: str | None, without: list[str]) -> dict[str, Worker]:
    workers = {FIRTH: Worker(sys.executable, [], "benchmarks.workers.corpus_firth")}
    for name, words in ((SPACY, "spacy"), (SPACES, "spaces")):
        if python and words not in without:
            workers[name] = Worker(python, [words], "benchmarks.workers.corpus_datatrove")
    return workers


def measure(
    workers: dict[str, Worker], work: str, folder: str, processes: int, rounds: int, warm_up: int
) -> dict[str, dict]:
    """Returns, for each library that does the work, the median seconds and how many documents it kept."""
    workers = {name: worker for name, worker in workers.items() if name == FIRTH or work not in ALONE}
    seconds: dict[str, list[float]] = {name: [] for name in workers}
    kept = {}
    for number in range(-warm_up, rounds):
        for name, worker in workers.items():
            done = worker.step(work, folder, processes)
            kept[name] = done["kept"]
            if number >= 0:
                seconds[name].append(done["seconds"])
    return {name: {"seconds": statistics.median(seconds[name]), "kept": kept[name]} for name in workers}


def line(work: str, row: dict[str, dict], documents: int, size: int) -> str:
    """Returns a row of the table."""
    ours, cells = row[FIRTH]["seconds"], []
    for name, figures in row.items():
        seconds = figures["seconds"]
        cell = f"{name} {documents / seconds:,.0f}/s {size / seconds / 1e6:.2f} MB/s kept {figures['kept']}"
        cells.append(cell if name == FIRTH else f"{cell} ({seconds / ours:.2f}x)")
    behind = any(figures["seconds"] < ours for figures in row.values())
    return f"{work:18} " + " | ".join(cells) + ("  BEHIND" if behind else "")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("works", nargs="*", metavar="WORK", help=f"of {', '.join(WORKS)}")
    parser.add_argument("--megabytes", type=float, default=25.0, help="of real text, from files to files")
    parser.add_argument("--rules-megabytes", type=float, default=3.0, help="of it, for rules alone")
    parser.add_argument("--made", type=float, default=256.0, help="megabytes, for 1 and 2 processes; 0: none")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--warm-up", type=int, default=1, help="rounds that are thrown away")
    parser.add_argument("--made-rounds", type=int, default=1)
    parser.add_argument("--without", nargs="*", default=[], metavar="LIBRARY", help="spacy, spaces")
    parser.add_argument("--datatrove-python", default=os.environ.get("FIRTH_DATATROVE_PYTHON"))
    parser.add_argument("--json", type=pathlib.Path, help="where to write the figures")
    options = parser.parse_args()
    unknown = sorted(set(options.works) - set(WORKS))
    if unknown:
        parser.error(f"unknown work {unknown[0]!r}; there are {', '.join(WORKS)}")
    if not options.datatrove_python:
        print("datatrove is left out: set FIRTH_DATATROVE_PYTHON to an interpreter that has it and spacy")
    return options


def run(options: argparse.Namespace, workers: dict[str, Worker], folder: str) -> dict[str, dict]:
    """Prints a row for each work, and returns the figures."""
    figures: dict[str, dict] = {}
    parts = {"rules": (RULES, options.rules_megabytes), "real": (FROM_FILES, options.megabytes)}
    for part, (works, megabytes) in parts.items():
        chosen = [work for work in options.works or WORKS if work in works]
        if chosen:
            count, size = write_jsonl(real_documents(megabytes), pathlib.Path(folder, part), FILES)
            print(f"{count} documents, {size / 1e6:.1f} MB, one process", flush=True)
        for work in chosen:
            row = measure(workers, work, f"{folder}/{part}", 1, options.rounds, options.warm_up)
            figures[work] = {**row, "documents": count, "bytes": size}
            print(line(work, row, count, size), flush=True)
    if options.made:
        texts = made_documents(real_documents(options.megabytes), options.made)
        count, size = write_jsonl(texts, pathlib.Path(folder, "made"), FILES)
        for processes in (1, 2):
            print(f"made: {count} documents, {size / 1e6:.1f} MB, processes: {processes}", flush=True)
            row = measure(workers, WHOLE, f"{folder}/made", processes, options.made_rounds, 0)
            figures[f"{WHOLE}, made, {processes}"] = {**row, "documents": count, "bytes": size}
            print(line(WHOLE, row, count, size), flush=True)
        one, two = (figures[f"{WHOLE}, made, {processes}"] for processes in (1, 2))
        gains = (f"{name} {one[name]['seconds'] / two[name]['seconds']:.2f}x" for name in workers)
        print("two processes instead of one: " + " | ".join(gains), flush=True)
    return figures


def main() -> None:
    options = parse()
    workers = start_workers(options.datatrove_python, options.without)
    print(f"{datetime.date.today()}, {os.cpu_count()} cores, medians of {options.rounds} rounds")
    with tempfile.TemporaryDirectory() as folder:
        try:
            figures = run(options, workers, folder)
        finally:
            for worker in workers.values():
                worker.close()
    versions = {name: worker.versions for name, worker in workers.items()}
    for name, kept in versions.items():
        print(f"{name}: " + ", ".join(f"{key} {value}" for key, value in kept.items()))
    if options.json:
        options.json.write_text(json.dumps({"figures": figures, "versions": versions}, indent=1))


if __name__ == "__main__":
    main()
