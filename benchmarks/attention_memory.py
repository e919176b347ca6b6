"""Peak memory a token of a training step, by the length of its rows, each in a process of its own.

    python -m benchmarks.attention_memory                       # rows of 1024 and of 8192 tokens
    python -m benchmarks.attention_memory 1024 2048 4096 --ways rows whole --json figures.json

A step is forward and backward of a stack (4 layers, width 256, 4 heads, dropout 0.1) over 8192 tokens, in
rows of one document each, the worst case. The peak is the process's resident memory above what it was before
the first step; the time is the processor's, the median of the steps after it, and tracing is done before.
`rows` is what a training does; with `whole` the scores of all queries are held at once.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import time
from typing import Any

from benchmarks.workers.memory import peak_bytes

TOKENS, NEVER = 8192, 10**9
STACK: dict[str, Any] = {
    "width": 256,
    "dropout": 0.1,
    "attention": {"heads": 4, "dropout": 0.1},
    "feed_forward": {"width": 1024},
}
# By name the class of the stack and further settings.
STACKS: dict[str, tuple[str, dict[str, Any]]] = {
    "both directions": ("MaskedTransformer", {}),
    "causal": ("CausalTransformer", {}),
    "relative buckets": ("MaskedTransformer", {"positions": {"kind": "relative_buckets"}}),
    "disentangled": ("MaskedTransformer", {"positions": {"kind": "disentangled"}}),
}


def measure(stack: str, length: int, way: str, layers_of_stack: int, steps: int) -> dict[str, float]:
    """Returns the bytes a token, the milliseconds of a step and the seconds of tracing in this process."""
    import numpy as np
    import tensorflow as tf

    from firth import layers
    from firth.layers.attention import row_chunked_attention as by_rows
    from firth.layers.elements.noise import example_noise

    if way == "whole":
        by_rows.LONGEST_WHOLE = NEVER
    kind, more = STACKS[stack]
    model = getattr(layers, kind)({**STACK, **more, "layers": layers_of_stack}, seed=0)
    rows = TOKENS // length
    hidden = np.random.default_rng(0).normal(size=(rows, length, STACK["width"])).astype("float32")
    documents, places = np.ones((rows, length), "int32"), np.tile(np.arange(length, dtype="int32"), (rows, 1))
    keys = np.arange(2 * rows, dtype="int32").reshape(rows, 2)
    model.build(hidden.shape)
    weights = [weight.value for weight in model.trainable_weights]

    @tf.function(autograph=False)
    def step(hidden: tf.Tensor) -> list[tf.Tensor]:
        with tf.GradientTape() as tape, example_noise(keys):
            output = model(hidden, documents, position_ids=places, training=True)
            loss = tf.reduce_sum(output * output)
        return [tf.reduce_sum(each) for each in tape.gradient(loss, weights)]

    hidden = tf.constant(hidden)
    started = time.process_time()
    step.get_concrete_function(hidden)
    before, traced, seconds = peak_bytes(), time.process_time() - started, []
    for _ in range(steps):
        started = time.process_time()
        step(hidden)[0].numpy()
        seconds.append(time.process_time() - started)
    return {
        "bytes a token": (peak_bytes() - before) / TOKENS,
        "milliseconds": 1000 * statistics.median(seconds[1:] or seconds),
        "seconds of tracing": traced,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("lengths", nargs="*", type=int, default=[1024, 8192])
    parser.add_argument("--ways", nargs="+", default=["rows"], choices=["rows", "whole"])
    parser.add_argument("--stacks", nargs="+", default=list(STACKS), choices=list(STACKS))
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--steps", type=int, default=3, help="of which the first one is not timed")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--json", type=pathlib.Path, help="where to write the figures")
    options = parser.parse_args()
    if options.one:
        print(
            json.dumps(
                measure(options.stacks[0], options.lengths[0], options.ways[0], options.layers, options.steps)
            )
        )
        return
    results: dict[str, dict[str, float]] = {}
    for stack in options.stacks:
        for way in options.ways:
            for length in options.lengths:
                counts = ["--layers", str(options.layers), "--steps", str(options.steps)]
                own = [str(length), "--one", "--stacks", stack, "--ways", way, *counts]
                command = [sys.executable, "-m", "benchmarks.attention_memory", *own]
                output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
                found = json.loads(output.splitlines()[-1])
                results[f"{stack}, {length}, {way}"] = found
                print(
                    f"{stack}, {length} tokens, {way}: {found['bytes a token'] / 1000:.0f} kB a token, "
                    f"{found['milliseconds']:.0f} ms, traced in {found['seconds of tracing']:.1f} s",
                    flush=True,
                )
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
