"""Training and inference of each family, firth next to its peers, on the same documents in the same minute.

    python -m benchmarks.models                                # all families
    python -m benchmarks.models bert gpt2 --rounds 15 --json figures.json
    python -m benchmarks.models bert --precision mixed_bfloat16
    python -m benchmarks.models --works inference              # or --inputs full: a part of the table
    python -m benchmarks.models --torch-python PYTHON          # or FIRTH_TORCH_PYTHON=PYTHON

Of the peers, KerasHub runs in this interpreter and Hugging Face transformers in one of its own, PYTHON,
that has torch. Model Garden, of the extra `modelgarden`, is measured on BERT and T5 with XLA and without;
the better of the two is the peer, and compilation is not measured. ELMo, which none has, is compared with
torch's own modules, `nn.LSTM(proj_size=...)`.
4 layers (ELMo 2 in each direction), width 256, rows of 128, batches of 32, vocabularies of the published
models (of ELMo's 793,471 words an eighth).

Real documents are firth's packed rows. Peers read them as their users do: in training `joined` into full
blocks, without padding, each token attending to earlier documents too; in inference `sorted` by length, a
document a row, padded to the longest of a batch. In `full` one document fills a row: nobody pads or packs,
and models alone are compared. Tokens/s count what is not padding, a decoder's too. Inference makes the
hidden states of all tokens; training is forward, backward, clipping and AdamW.

Each library has a process of its own; they do a lot of work in turn, several rounds; figures are medians.
Peak memory is that of the whole process, libraries included, when the work is done; inference comes first,
so that its peak is its own. A row where a peer is ahead is marked BEHIND.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import argparse
import dataclasses
import datetime
import json
import pathlib
import statistics
import sys
import tempfile

import numpy as np

from benchmarks.claims import keep
from benchmarks.tokenization import read_texts
from benchmarks.workers import batches
from benchmarks.workers.families import (
    FAMILIES,
    FIRTH,
    MODEL_GARDENS,
    TORCH,
    TRANSFORMERS,
    Family,
    Size,
    without_model_garden,
)
from benchmarks.workers.turns import Worker, started
from benchmarks.workers.words import with_words

# What each work is given; the first of each is real text.
INPUTS = {"inference": ("sorted", "full"), "training": ("joined", "full")}
WARM_UP, LOTS = 2, 4
FULL_TARGETS = {"corruption": 32, "denoising": 128}


def make_lots(name: str, size: Size, texts: list[str]) -> dict[str, list[batches.Features]]:
    from benchmarks.workers.recipes import make_recipe
    from firth.corpus.packing.rows import pack

    family = FAMILIES[name]
    recipe = make_recipe(name, family, size)
    target_length = recipe.objective.target_length(recipe.sequences)
    most = recipe.sequences.max_documents
    text = batches.text_lots(texts, family, size, target_length, most, LOTS, pack)
    lots = {
        "joined": text,
        "sorted": [batches.together(text)],
        "full": batches.full_lots(family, size, FULL_TARGETS.get(family.task, 0), LOTS),
    }
    return with_words(lots, texts, family.vocabulary) if family.task == "bidirectional" else lots


def measure(
    workers: dict[str, Worker], work: str, given: str, lots: list, rounds: int, joining: tuple[str, ...] = ()
) -> dict[str, dict]:
    """Returns the median figures of each worker; those that join documents leave out what fills no row."""
    steps: dict[str, list[dict[str, float]]] = {name: [] for name in workers}
    for number in range(-WARM_UP, rounds):
        lot = number % len(lots)
        ours = batches.count_tokens(lots[lot])
        joined = batches.count_joined(lots[lot]) if joining else ours
        for name, worker in workers.items():
            step = worker.step(work, given, lot)
            if number >= 0:
                step["tokens_per_second"] = (joined if name in joining else ours) / step["seconds"]
                steps[name].append(step)
    return {
        name: {unit: statistics.median(step[unit] for step in done) for unit in done[0]}
        for name, done in steps.items()
    }


def compare(name: str, size: Size, texts: list[str], options) -> dict:
    """Returns the figures of one family, by work, input and worker, and the versions of the workers."""
    lots = make_lots(name, size, texts)
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/lots.npz"
        flat = {
            f"{given}/{number}/{key}": value
            for given, features in lots.items()
            for number, lot in enumerate(features)
            for key, value in lot.items()
        }
        np.savez(path, **flat)
        commands = {
            worker: (python, [worker, name, json.dumps(dataclasses.asdict(size)), path])
            for worker, python in pythons(FAMILIES[name], options).items()
        }
        with started(commands) as workers:
            figures = {
                work: {
                    given: measure(
                        workers,
                        work,
                        given,
                        lots[given],
                        options.rounds,
                        FAMILIES[name].peers if given == "joined" else (),
                    )
                    for given in INPUTS[work]
                    if given in options.inputs
                }
                for work in options.works
            }
            return {"figures": figures, "versions": {key: worker.versions for key, worker in workers.items()}}


def pythons(family: Family, options) -> dict[str, str]:
    """Returns the interpreter of each worker that can be measured."""
    found = {FIRTH: sys.executable, **dict.fromkeys(family.peers, sys.executable)}
    for worker in (TRANSFORMERS, TORCH):
        if worker in found:
            found[worker] = options.torch_python
    if without_model_garden():
        found.update({worker: "" for worker in MODEL_GARDENS if worker in found})
    return {worker: python for worker, python in found.items() if python and worker not in options.without}


def lines(name: str, figures: dict) -> list[str]:
    """Returns a family's rows of the table."""
    rows = []
    for work, inputs in figures.items():
        for given, workers in inputs.items():
            ours = workers.get(FIRTH)
            peers = {worker: row for worker, row in workers.items() if worker != FIRTH}
            cells = [_cell(FIRTH, ours)] if ours else []
            behind = False
            for worker, row in peers.items():
                ratio = ours["tokens_per_second"] / row["tokens_per_second"] if ours else None
                behind |= ratio is not None and ratio < 1
                cells.append(_cell(worker, row) + (f" {ratio:6.2f}x" if ratio else ""))
            mark = "  BEHIND" if behind else ""
            rows.append(f"{name:11} {work:10} {given:6} " + " | ".join(cells) + mark)
    return rows


def _cell(worker: str, row: dict[str, float]) -> str:
    return f"{worker:12} {row['tokens_per_second']:8,.0f} tok/s {row['peak_megabytes']:6,.0f} MB"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("families", nargs="*", metavar="FAMILY", help=f"of {', '.join(FAMILIES)}")
    parser.add_argument("--text", type=pathlib.Path, help="a file to read instead of docstrings")
    parser.add_argument("--rounds", type=int, default=8)
    inputs = sorted({given for some in INPUTS.values() for given in some})
    parser.add_argument("--works", nargs="*", default=[*INPUTS], choices=[*INPUTS], metavar="WORK")
    parser.add_argument("--inputs", nargs="*", default=inputs, choices=inputs, metavar="INPUT")
    parser.add_argument("--without", nargs="*", default=[], metavar="LIBRARY", help="what not to measure")
    parser.add_argument("--torch-python", default=os.environ.get("FIRTH_TORCH_PYTHON"))
    parser.add_argument("--json", type=pathlib.Path, help="where to write the figures")
    parser.add_argument(
        "--keep", action="store_true", help="keep the run in benchmarks/kept, for benchmarks.claims"
    )
    for field in dataclasses.fields(Size):
        parser.add_argument(f"--{field.name}", type=type(field.default), default=field.default)
    options = parser.parse_args()
    unknown = sorted(set(options.families) - set(FAMILIES))
    if unknown:
        parser.error(f"unknown family {unknown[0]!r}; there are {', '.join(FAMILIES)}")
    size = Size(**{field.name: getattr(options, field.name) for field in dataclasses.fields(Size)})
    if not options.torch_python:
        print("peers on torch are left out: set FIRTH_TORCH_PYTHON to a Python that has it and transformers")
    if reason := without_model_garden():
        print(reason)
    texts = read_texts(options.text, megabytes=2.0)
    print(
        f"{datetime.date.today()}, {os.cpu_count()} cores, {size}, medians of {options.rounds} rounds",
        flush=True,
    )
    results = {}
    for name in options.families or FAMILIES:
        results[name] = compare(name, size, texts, options)
        print("\n".join(lines(name, results[name]["figures"])), flush=True)
        if options.json:
            options.json.write_text(
                json.dumps({"size": dataclasses.asdict(size), "families": results}, indent=1)
            )
    if options.keep:
        print(f"kept: {keep(dataclasses.asdict(size), results)}")
    versions = {worker: kept for result in results.values() for worker, kept in result["versions"].items()}
    for worker, kept in versions.items():
        print(f"{worker}: " + ", ".join(f"{key} {value}" for key, value in kept.items()))


if __name__ == "__main__":
    main()
