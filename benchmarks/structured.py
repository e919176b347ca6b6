"""JSON by schemas, written by a model of GPT-2's size: firth next to transformers, in the same minute.

    python -m benchmarks.structured                                  # ten schemas, batches of 1 and 8
    python -m benchmarks.structured --schemas order flags --rounds 5 --json figures.json
    python -m benchmarks.structured --layers 2 --width 128 --heads 2 --feed-forward 256 --steps 16 --rounds 1
    python -m benchmarks.structured --torch-python PYTHON            # or FIRTH_TORCH_PYTHON=PYTHON

Random weights, 50,257 pieces of bytes that are learned on Python's own library, prompts of 32 tokens, and
tokens that are drawn at temperature 1. `firth` is a generator whose requests have the schema, followed by
llguidance; `firth baked` the graph of an exported model that has the schemas inside. `transformers` is
`generate` on torch with a processor of llguidance's or of outlines-core's own functions for torch: that
Python needs torch, transformers, llguidance and outlines-core.

Each library has a process of its own; all are alive at the same time and take turns, after a round that
is not counted. A batch is as long as its longest text: `ms` is the time of a step, the prompt's share in
it, `tokens/s` the rows of the batch by that time, and `held` the time of a step under the schema over
that of a step of free text by the same library, as long. The masks are measured by themselves, on texts
that are drawn from them, call by call: a batch's are made in one call where the library has one.
`compile` is the time from the schema to the first text. A row where firth is behind transformers with the
same engine is marked BEHIND, as are masks over 100 microseconds a row in the mean, run time over 1.10 and
a baked schema over 1.05 of free text.
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

from benchmarks.workers.generation_sizes import SIZES
from benchmarks.workers.structured_schemas import SCHEMAS
from benchmarks.workers.turns import started

FIRTH, BAKED = "firth", "firth baked"
# By the library, the peer that has the same engine.
PEERS = {FIRTH: "transformers llguidance", BAKED: "transformers outlines"}
# Most of a step under a schema over one of free text.
GOALS = {FIRTH: 1.10, BAKED: 1.05}
MOST_MICROSECONDS = 100.0
_CHANGEABLE = ("layers", "width", "heads", "feed_forward")


def measure(options, size, folder):
    """Returns the figures by schema, batch and library, and the versions."""
    module = "benchmarks.workers.structured_work"
    given = json.dumps(dataclasses.asdict(size))
    # The first one makes the tokens that all read.
    commands = {name: (sys.executable, [name, given, folder]) for name in (FIRTH, BAKED)}
    if options.torch_python:
        commands |= {name: (options.torch_python, [name, given, folder]) for name in PEERS.values()}
    commands = {name: each for name, each in commands.items() if name in options.libraries}
    with started(commands, module=module) as workers:
        figures = {}
        for schema in options.schemas:
            took = {name: each.step("compile", schema, 1)["took"] for name, each in workers.items()}
            for batch in options.batches:
                figures[f"{schema} {batch}"] = {
                    name: {"compile": took[name], **_of_masks(each.step("masks", schema, batch)["masks"])}
                    for name, each in workers.items()
                }
            for batch in options.batches:
                for name, each in _timed(workers, schema, batch, options).items():
                    figures[f"{schema} {batch}"][name] |= each
        return figures, {name: each.versions for name, each in workers.items()}


def _of_masks(seconds):
    # The first ones of a process are not counted.
    micros = np.array(seconds[len(seconds) // 8 :]) * 1e6
    return {"mask": float(micros.mean()), "mask_p99": float(np.percentile(micros, 99))}


def _timed(workers, schema, batch, options):
    """Returns the medians of the seconds of a step by library, under a schema and of free texts as long.

    Both are None where the texts had ended before their first step.
    """
    found = {name: {"step": [], "free": [], "steps": []} for name in workers}
    for turn in range(options.rounds + 1):
        for name, worker in workers.items():
            held = worker.step("write", f"{schema} {options.steps}", batch)
            if not held["steps"]:
                continue
            free = worker.step("write", f"free {held['steps']}", batch)
            if turn:
                found[name]["step"].append(held["seconds"] / held["steps"])
                found[name]["free"].append(free["seconds"] / free["steps"])
                found[name]["steps"].append(held["steps"])
    return {
        name: {part: statistics.median(seconds) if seconds else None for part, seconds in each.items()}
        for name, each in found.items()
    }


def lines(figures):
    """Yields a line for each schema, batch and library."""
    for place, by_library in figures.items():
        schema, batch = place.split(" ")
        for name, each in by_library.items():
            peer = by_library.get(PEERS.get(name, ""), {})
            marks = []
            speed = "the texts have ended before" if each["step"] is None else ""
            if each["step"] is not None:
                ratio = each["step"] / each["free"]
                tokens = int(batch) / each["step"]
                speed = f"{each['step'] * 1e3:7.1f} ms {tokens:7.1f} tokens/s held {ratio:5.2f}"
                if name in GOALS and ratio > GOALS[name]:
                    marks.append(f"BEHIND {GOALS[name]:.2f}")
                if peer.get("step") is not None and each["step"] > peer["step"]:
                    marks.append("BEHIND the peer")
            if name == FIRTH and each["mask"] / int(batch) > MOST_MICROSECONDS:
                marks.append(f"BEHIND {MOST_MICROSECONDS:.0f} us")
            yield (
                f"{schema:9} batch {batch}  {name:23} compile {each['compile'] * 1e3:8.1f} ms"
                f"  mask {each['mask']:7.1f} us, p99 {each['mask_p99']:8.1f}  {speed}  {', '.join(marks)}"
            ).rstrip()


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = [FIRTH, BAKED, *PEERS.values()]
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=48)
    parser.add_argument("--batches", type=int, nargs="+", default=[1, 8])
    parser.add_argument("--schemas", nargs="+", choices=list(SCHEMAS), default=list(SCHEMAS))
    parser.add_argument("--libraries", nargs="+", choices=names, default=names)
    parser.add_argument("--torch-python", default=os.environ.get("FIRTH_TORCH_PYTHON"))
    parser.add_argument("--json", type=pathlib.Path)
    for name in _CHANGEABLE:
        parser.add_argument(f"--{name.replace('_', '-')}", type=int)
    options = parser.parse_args()
    changes = {name: value for name in _CHANGEABLE if (value := getattr(options, name)) is not None}
    size = dataclasses.replace(SIZES["gpt2_small"], **changes)
    if not options.torch_python:
        print(
            "transformers is left out: set FIRTH_TORCH_PYTHON to a Python that has it, torch and the engines"
        )
    print(
        f"{datetime.date.today()}, {os.cpu_count()} cores under a load of {os.getloadavg()[0]:.1f}",
        flush=True,
    )
    with tempfile.TemporaryDirectory() as folder:
        figures, versions = measure(options, size, folder)
    print("\n".join(lines(figures)))
    if options.json:
        options.json.write_text(json.dumps({"rows": figures, "versions": versions}, indent=1))


if __name__ == "__main__":
    main()
