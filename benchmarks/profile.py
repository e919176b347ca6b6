"""Where a training step's time goes: by kind of operation, its matmuls together.

    python -m benchmarks.profile                          # BERT, GPT-2, T5 and ELMo's LSTM, without padding
    python -m benchmarks.profile bert --precision mixed_bfloat16 --steps 10
    python -m benchmarks.profile bert --names             # each operation by its name in the graph

firth's worker of `benchmarks.models`, input `full`, or of `benchmarks.lstm`, `full-32`. The profiler says
how long each operation ran, without those inside it. Operations that ran together are added up, so the sum
can be longer than the step; with TF_NUM_INTEROP_THREADS=1 none do. `matmuls` are all products: what a
step cannot be faster than with the same library for them.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import argparse
import dataclasses
import re
import statistics
import time

import numpy as np

from benchmarks.lstm import LENGTH
from benchmarks.models import make_lots
from benchmarks.tokenization import read_texts
from benchmarks.workers.families import FAMILIES, Size
from benchmarks.workers.firth_worker import Model
from benchmarks.workers.lstm_work import Firth, Layer
from benchmarks.workers.traces import trace_of

LSTM = "lstm"


def operations_of(run) -> list[tuple[str, float]]:
    """Returns each operation that ran, `name:kind`, with its microseconds."""
    found = []
    for plane in trace_of(run).planes:
        names = {key: value.name for key, value in plane.event_metadata.items()}
        for line in plane.lines:
            found += own_times([(names[e.metadata_id], e.offset_ps, e.duration_ps) for e in line.events])
    return [
        (name, duration / 1e6) for name, duration in found if re.fullmatch(r"[^:]*[^:\s]:[A-Z_]\w+", name)
    ]


def own_times(events: list[tuple[str, int, int]]) -> list[tuple[str, int]]:
    """Returns the events of a thread with the time of those inside each taken off.

    Example:

    >>> own_times([("outer", 0, 10), ("inner", 2, 3)])
    [('outer', 7), ('inner', 3)]
    """
    events = sorted(events, key=lambda event: (event[1], -event[2]))
    own = [duration for _, _, duration in events]
    open_events: list[int] = []
    for index, (_, start, duration) in enumerate(events):
        while open_events and start >= events[open_events[-1]][1] + events[open_events[-1]][2]:
            open_events.pop()
        if open_events:
            own[open_events[-1]] -= duration
        open_events.append(index)
    return [(name, time) for (name, _, _), time in zip(events, own)]


def seconds(run, steps: int) -> float:
    """Returns the median seconds of a step."""
    taken = []
    for _ in range(steps):
        start = time.perf_counter()
        run()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("families", nargs="*", default=["bert", "gpt2", "t5", LSTM], metavar="FAMILY")
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--most", type=int, default=25, help="rows of the table")
    parser.add_argument("--names", action="store_true", help="each operation by its name")
    parser.add_argument("--input", default="full")
    for field in dataclasses.fields(Size):
        parser.add_argument(f"--{field.name}", type=type(field.default), default=field.default)
    options = parser.parse_args()
    size = Size(**{field.name: getattr(options, field.name) for field in dataclasses.fields(Size)})
    texts = read_texts(None, megabytes=2.0)
    for name in options.families:
        print(profile(name, size, texts, options), flush=True)


def make_step(name: str, size: Size, texts: list[str], given: str):
    """Returns the function of one training step."""
    if name == LSTM:
        layer = Firth(Layer(precision=size.precision, batch=size.batch))
        (rows,) = layer.prepare(np.ones((size.batch, LENGTH), "int32"))
        return lambda: layer.training(rows)
    model = Model(name, FAMILIES[name], size)
    (batch,) = model.prepare(make_lots(name, size, texts)[given][0], given)
    return lambda: model.training(batch)


def profile(name: str, size: Size, texts: list[str], options) -> str:
    """Returns the table of one family."""
    step = make_step(name, size, texts, options.input)
    step()
    took = seconds(step, options.steps)
    ran = table(operations_of(step), options)
    return f"{name} {size.precision}: a step {took * 1e3:,.0f} ms, " + "\n".join(ran)


def table(ran: list[tuple[str, float]], options) -> list[str]:
    """Returns the time of all operations together, then a line for each of those that took most."""
    totals: dict[str, list[float]] = {}
    for key, microseconds in ran:
        totals.setdefault(key if options.names else key.split(":")[-1], []).append(microseconds / 1e3)
    whole = sum(map(sum, totals.values()))
    matmuls = sum(sum(times) for key, times in totals.items() if "MatMul" in key or "Conv2D" in key)
    rows = [f"operations {whole:,.0f} ms, of them matmuls {matmuls:,.0f} ms ({matmuls / whole:.0%})"]
    for key, times in sorted(totals.items(), key=lambda item: -sum(item[1]))[: options.most]:
        rows.append(f"  {sum(times):9.1f} ms {sum(times) / whole:6.1%} {len(times):5d} x {key}")
    return rows


if __name__ == "__main__":
    main()
