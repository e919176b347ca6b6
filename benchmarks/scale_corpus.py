"""Documents a second of the whole cleaning, from files to files, with more and more worker processes."""

import argparse
import pathlib
import statistics
import sys
from typing import Any

from benchmarks.corpus_texts import made_documents, real_documents, write_jsonl
from benchmarks.workers.corpus_work import WHOLE
from benchmarks.workers.turns import Worker

MEGABYTES, FILES = 25.0, 8


def measure(options: argparse.Namespace, scratch: pathlib.Path) -> dict[str, Any]:
    """Cleans with each number of processes in turn, prints a table and returns the figures."""
    texts = made_documents(real_documents(MEGABYTES), 4 * MEGABYTES)
    count, size = write_jsonl(texts, scratch / "texts", FILES)
    worker, seconds = Worker(sys.executable, [], "benchmarks.workers.corpus_firth"), {}
    try:
        for _ in range(options.rounds):
            for processes in options.workers:
                done = worker.step(WHOLE, str(scratch / "texts"), processes)
                seconds.setdefault(processes, []).append(done["seconds"])
    finally:
        worker.close()
    print(f"{count} documents, {size / 1e6:.1f} MB, rules and near duplicates\n")
    print("| processes | seconds | documents/s | MB/s | times one |\n|---|---|---|---|---|")
    rows: dict[str, Any] = {"documents": count, "bytes": size, "seconds": {}}
    for processes, found in seconds.items():
        rows["seconds"][processes] = took = statistics.median(found)
        gain = statistics.median(seconds[options.workers[0]]) / took
        print(f"| {processes} | {took:.1f} | {count / took:,.0f} | {size / took / 1e6:.2f} | {gain:.2f} |")
    return rows
