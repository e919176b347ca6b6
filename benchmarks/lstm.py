"""ELMo's LSTM with projection next to torch's `nn.LSTM(proj_size=...)`, on the same words in the same minute.

    python -m benchmarks.lstm --torch-python PYTHON           # or FIRTH_TORCH_PYTHON=PYTHON
    python -m benchmarks.lstm --rounds 15 --json figures.json
    python -m benchmarks.lstm --inputs text --works training --precisions float32

The layer of ELMo's reference model with half its cells: 2048 cells, projection 512, inputs of 512, in one
direction and in both; in float32, and with matmuls in bfloat16, which is firth's `mixed_bfloat16` and torch's
autocast. Three inputs: `text`, where firth reads 32 packed rows of 128 words and torch the same words joined
into full rows, its states running on from document to document, or each document alone in its packed
sequences; and `full-32` and `full-128`, batches of so many rows of 20 words that one document fills, as ELMo
trains on running text, where the layers alone are compared. Words/s count what is not padding. Inference
makes the outputs, training them and the gradients for the inputs and all weights. firth clips cells and
projections as ELMo does, which torch cannot.

`matmuls` are those of firth's step, in TensorFlow and with nothing between them: what a step can hardly be
faster than. Each library has a process of its own, and they do a lot of work in turn; figures are medians.
Peak memory is that of the whole process, libraries included, when the work is done; inference comes first,
so that its peak is its own. A row where torch is ahead is marked BEHIND.
"""

import argparse
import dataclasses
import datetime
import json
import os
import pathlib
import sys
import tempfile

import numpy as np

from benchmarks.models import INPUTS, measure
from benchmarks.tokenization import read_texts
from benchmarks.workers import batches
from benchmarks.workers.families import Family, Size
from benchmarks.workers.lstm_work import FIRTH, JOINED, MATMULS, PACKED, Layer
from benchmarks.workers.turns import started
from firth.corpus.packing.rows import pack

PRECISIONS = ("float32", "mixed_bfloat16")
DIRECTIONS = {"one": 1, "both": 2}
BATCHES = {"text": 32, "full-32": 32, "full-128": 128}
LENGTH, STEPS = 20, 4
LOTS, MOST_DOCUMENTS = 4, 64


def make_lots(given: str, texts: list[str]) -> list[batches.Features]:
    """Returns batches of rows; of their features only the documents matter here."""
    if given != "text":
        return [{"document_ids": np.ones((STEPS * BATCHES[given], LENGTH), "int32")}]
    words = Family("causal", vocabulary=100_000, dropout=0.0, peers=())
    return batches.text_lots(texts, words, Size(), 0, MOST_DOCUMENTS, LOTS, pack)


def compare(layer: Layer, given: str, texts: list[str], options) -> dict:
    """Returns the figures of a layer on an input, by work and worker, and the versions of the workers."""
    lots = make_lots(given, texts)
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/lots.npy"
        np.save(path, np.stack([lot["document_ids"] for lot in lots]))
        commands = {
            worker: (python, [worker, json.dumps(dataclasses.asdict(layer)), path])
            for worker, python in pythons(given, options).items()
        }
        with started(commands, module="benchmarks.workers.lstm_work") as workers:
            figures = {
                work: measure(workers, work, given, lots, options.rounds, (JOINED,)) for work in options.works
            }
            return {"figures": figures, "versions": {key: worker.versions for key, worker in workers.items()}}


def pythons(given: str, options) -> dict[str, str]:
    """Returns the interpreter of each worker that can be measured."""
    found = {FIRTH: sys.executable, MATMULS: sys.executable}
    if options.torch_python:
        found |= dict.fromkeys((JOINED, PACKED) if given == "text" else (JOINED,), options.torch_python)
    return found


def line(name: str, workers: dict[str, dict[str, float]]) -> str:
    """Returns a row of the table."""
    ours = workers[FIRTH]["tokens_per_second"]
    cells, behind = [], False
    for worker, row in workers.items():
        cell = f"{worker} {row['tokens_per_second']:,.0f}/s"
        if worker != MATMULS:
            cell += f" {row['peak_megabytes']:,.0f} MB"
        if worker in (JOINED, PACKED):
            ratio = ours / row["tokens_per_second"]
            behind |= ratio < 1
            cell += f" {ratio:.2f}x"
        cells.append(cell)
    return f"{name} " + " | ".join(cells) + ("  BEHIND" if behind else "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--text", type=pathlib.Path, help="a file to read instead of docstrings")
    parser.add_argument("--rounds", type=int, default=5)
    for name, choices in {
        "inputs": tuple(BATCHES),
        "works": tuple(INPUTS),
        "precisions": PRECISIONS,
        "directions": tuple(DIRECTIONS),
    }.items():
        parser.add_argument(
            f"--{name}", nargs="*", default=choices, choices=choices, metavar=name[:-1].upper()
        )
    parser.add_argument("--torch-python", default=os.environ.get("FIRTH_TORCH_PYTHON"))
    parser.add_argument("--json", type=pathlib.Path, help="where to write the figures")
    options = parser.parse_args()
    if not options.torch_python:
        print("torch is left out: set FIRTH_TORCH_PYTHON to an interpreter that has it")
    texts = read_texts(options.text, megabytes=2.0)
    print(
        f"{datetime.date.today()}, {os.cpu_count()} cores, words/s, medians of {options.rounds} rounds",
        flush=True,
    )
    rows, versions = [], {}
    for precision in options.precisions:
        for name in options.directions:
            for given in options.inputs:
                layer = Layer(directions=DIRECTIONS[name], precision=precision, batch=BATCHES[given])
                found = compare(layer, given, texts, options)
                versions |= found["versions"]
                for work, workers in found["figures"].items():
                    row = {"precision": precision, "directions": name, "input": given, "work": work}
                    rows.append(row | {"workers": workers})
                    print(line(f"{precision:14} {name:4} {given:8} {work:9}", workers), flush=True)
                if options.json:
                    options.json.write_text(json.dumps({"lstm": rows, "versions": versions}, indent=1) + "\n")
    for worker, kept in versions.items():
        if kept:
            print(f"{worker}: " + ", ".join(f"{key} {value}" for key, value in kept.items()))


if __name__ == "__main__":
    main()
