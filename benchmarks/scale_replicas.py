"""Seconds a step and losses of the same training on 1, 2 and 4 replicas."""

import argparse
import itertools
import pathlib
import statistics
from typing import Any

from benchmarks.learning_corpus import Corpus
from benchmarks.scale_worker import finish, make_recipe, start
from firth.training.history import read_history

# Steps at the start that compile, and are not timed.
FIRST = 20


def measure(options: argparse.Namespace, scratch: pathlib.Path) -> dict[str, Any]:
    """Trains on each number of replicas in turn, prints a table and returns the figures."""
    corpus, curves, rows = Corpus(options.folder), {}, {}
    for replicas in options.replicas:
        spread = {"strategy": "mirrored", "replicas": replicas} if replicas > 1 else {}
        recipe = make_recipe(options.preset, options.steps, steps_per_execution=FIRST, **spread)
        finish(start(recipe, corpus, scratch / str(replicas)))
        curves[replicas] = read_history(str(scratch / str(replicas) / "run"))
    one = curves[options.replicas[0]]
    print(f"{options.preset}, {options.steps} steps\n\n| replicas | s a step | last loss | furthest loss |")
    print("|---|---|---|---|")
    for replicas, curve in curves.items():
        furthest = max(abs(a["loss"] - b["loss"]) for a, b in zip(one, curve, strict=True))
        rows[replicas] = {
            "seconds_per_step": seconds_per_step(curve),
            "last_loss": curve[-1]["loss"],
            "furthest_loss": furthest,
        }
        print(
            f"| {replicas} | {rows[replicas]['seconds_per_step']:.4f} | {curve[-1]['loss']:.6f} "
            f"| {furthest:.1e} |"
        )
    return rows


def seconds_per_step(curve: list[dict[str, Any]]) -> float:
    """Returns the median over blocks of steps of the seconds of one of their steps."""
    ends = [line["seconds"] for line in curve if line["step"] % FIRST == 0]
    return statistics.median((after - before) / FIRST for before, after in itertools.pairwise(ends))
