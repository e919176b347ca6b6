"""An LSTM with projection, forward and backward, beside torch's `nn.LSTM(proj_size=...)`.

    python -m benchmarks.lstm --torch-python PYTHON           # or FIRTH_TORCH_PYTHON=PYTHON
    python -m benchmarks.lstm --rounds 20 --json figures.json

The layer of ELMo's reference model with half its cells: 2048 cells, projection 512, inputs of 512, rows of 20
steps, batches of 32 and 128, in one direction and in both; in float32, and with matmuls in bfloat16, which is
firth's `mixed_bfloat16` and torch's autocast. A step is the outputs and the gradients for the inputs and all
weights; a turn is some steps, one after another as in training. firth clips cells and projections as ELMo
does, which torch cannot, and keeps two documents of each row apart. `matmuls` are those of firth's step, in
TensorFlow and with nothing between them: what a step cannot be faster than. Each side runs in a process of
its own, in turn; the figures are medians. Processor time is that of all cores together, and varies less than
wall time where others use the machine too.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import argparse
import json
import pathlib
import statistics
import sys
from collections.abc import Callable

from benchmarks.sides.turns import Side, answer

CELLS, WIDTH, LENGTH = 2048, 512, 20
UNITS = {"milliseconds": "seconds", "processor_milliseconds": "processor_seconds"}
OURS, PEER, LIMIT = "firth", "torch", "matmuls"
STEPS_A_TURN = 4
DIRECTIONS = {"one": 1, "both": 2}
BATCHES = (32, 128)
PRECISIONS = ("float32", "mixed_bfloat16")


def firth_steps() -> tuple[dict[str, str], dict[str, Callable]]:
    import keras
    import numpy as np
    import tensorflow as tf

    from firth.layers import LSTM

    def make(precision, directions, batch):
        clips = {"cell_clip": 3.0, "projection_clip": 3.0}
        layer = LSTM(CELLS, WIDTH, directions, **clips, dtype=precision)
        layer.build((None, None, directions * WIDTH))
        inputs = tf.random.normal((batch, LENGTH, WIDTH))
        documents = tf.constant(np.tile(np.repeat([1, 2], LENGTH // 2), (batch, 1)), tf.int32)
        weights = [weight.value for weight in layer.trainable_weights]

        @tf.function
        def step():
            with tf.GradientTape() as tape:
                tape.watch(inputs)
                outputs = layer(tf.tile(inputs, [1, 1, directions]), documents)
                loss = tf.reduce_sum(tf.cast(outputs, tf.float32))
            return tape.gradient(loss, [inputs, *weights])

        return lambda: [gradient.numpy()[0] for gradient in step()]

    return {"tensorflow": tf.__version__, "keras": keras.__version__}, for_all(make)


def torch_steps() -> tuple[dict[str, str], dict[str, Callable]]:
    import torch

    def make(precision, directions, batch):
        layer = torch.nn.LSTM(WIDTH, CELLS, proj_size=WIDTH, bidirectional=directions == 2, batch_first=True)
        inputs = torch.randn(batch, LENGTH, WIDTH, requires_grad=True)

        def step():
            layer.zero_grad(set_to_none=True)
            inputs.grad = None
            with torch.autocast("cpu", torch.bfloat16, enabled=precision != "float32"):
                outputs = layer(inputs)[0]
            outputs.float().sum().backward()

        return step

    return {"torch": torch.__version__}, for_all(make)


def matmul_steps() -> tuple[dict[str, str], dict[str, Callable]]:
    import tensorflow as tf

    def make(precision, directions, batch):
        dtype = "float32" if precision == "float32" else "bfloat16"
        pairs = [
            (tf.random.normal((rows, reduced)), tf.random.normal((reduced, columns)), times)
            for rows, reduced, columns, times in matmuls(batch)
        ]
        pairs = [(tf.cast(left, dtype), tf.cast(right, dtype), times) for left, right, times in pairs]

        @tf.function
        def step():
            total = tf.zeros((), dtype)
            for left, right, times in pairs * directions:
                for _ in range(times):
                    # One after another; and none is left out, unread or equal to another.
                    with tf.control_dependencies([total]):
                        total += tf.matmul(left, right)[0, 0]
            return total

        return lambda: step().numpy()

    return {"tensorflow": tf.__version__}, for_all(make)


def matmuls(batch: int) -> list[tuple[int, int, int, int]]:
    """Returns rows, reduced axis, columns and number of the products of a step in one direction."""
    tokens, gates = LENGTH * batch, 4 * CELLS
    forward = [(gates, WIDTH, tokens, 1), (gates, WIDTH, batch, LENGTH), (WIDTH, CELLS, batch, LENGTH)]
    for_state = [(CELLS, WIDTH, batch, LENGTH), (WIDTH, gates, batch, LENGTH)]
    for_inputs_and_weights = [(WIDTH, gates, tokens, 1), (gates, tokens, WIDTH, 2), (WIDTH, tokens, CELLS, 1)]
    return forward + for_state + for_inputs_and_weights


def for_all(make: Callable) -> dict[str, Callable]:
    return {
        f"{precision} {name} {batch}": make(precision, directions, batch)
        for precision in PRECISIONS
        for name, directions in DIRECTIONS.items()
        for batch in BATCHES
    }


def measure(sides: dict[str, Side], rounds: int) -> list[dict]:
    """Returns medians of wall and processor milliseconds for each precision, direction and batch size."""
    found = []
    for name in for_all(lambda *_: None):
        taken: dict[str, list[dict]] = {side: [] for side in sides}
        for number in range(-2, rounds):
            for side, process in sides.items():
                figures = process.step(name, "step", 0)
                if number >= 0:
                    taken[side].append(figures)
        row = {
            side: {
                unit: 1e3 / STEPS_A_TURN * statistics.median(each[key] for each in all_figures)
                for unit, key in UNITS.items()
            }
            for side, all_figures in taken.items()
        }
        precision, directions, batch = name.split()
        found.append({"precision": precision, "directions": directions, "batch": int(batch), "sides": row})
        print_row(found[-1])
    return found


def print_row(row: dict) -> None:
    cells = [
        f"{side:7}{figures['milliseconds']:7.0f} ms {figures['processor_milliseconds']:7.0f} processor ms"
        for side, figures in row["sides"].items()
    ]
    if PEER in row["sides"]:
        ours, peer = row["sides"][OURS], row["sides"][PEER]
        cells.append(" and ".join(f"{peer[unit] / ours[unit]:.2f}x" for unit in ours))
    print(
        f"{row['precision']:14} {row['directions']:5} batch {row['batch']:4} " + " | ".join(cells), flush=True
    )


STEPS = {OURS: firth_steps, PEER: torch_steps, LIMIT: matmul_steps}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--torch-python", default=os.environ.get("FIRTH_TORCH_PYTHON"))
    parser.add_argument("--json", type=pathlib.Path, help="where to write the figures")
    parser.add_argument("--side", choices=tuple(STEPS), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.side:
        versions, steps = STEPS[options.side]()

        def turn(name, *_):
            for _ in range(STEPS_A_TURN):
                steps[name]()

        answer(versions, turn)
        return
    pythons = {OURS: sys.executable, PEER: options.torch_python, LIMIT: sys.executable}
    if not options.torch_python:
        print("torch is left out: set FIRTH_TORCH_PYTHON to an interpreter that has it")
    sides: dict[str, Side] = {}
    try:
        for side, python in pythons.items():
            if python:
                sides[side] = Side(python, ["--side", side], module="benchmarks.lstm")
        rows = measure(sides, options.rounds)
        versions = {side: process.versions for side, process in sides.items()}
    finally:
        for process in sides.values():
            process.close()
    for side, found in versions.items():
        print(f"{side}: " + ", ".join(f"{key} {value}" for key, value in found.items()))
    if options.json:
        options.json.write_text(json.dumps({"lstm": rows, "versions": versions}, indent=1) + "\n")


if __name__ == "__main__":
    main()
