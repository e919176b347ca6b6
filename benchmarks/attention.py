"""What it is worth not to score what the mask forbids: causal attention in blocks, and packed rows.

    python -m benchmarks.attention                              # lengths 128, 256, 512 and 1024
    python -m benchmarks.attention 512 --rounds 20 --json figures.json

First the time of forward and backward of one layer of attention (width 256, 4 heads, dropout 0.1, 4096
tokens), reading whole rows, or in blocks of queries each without the keys behind it; in turn, medians. Then,
for packed rows of real documents, the share of scores that the mask allows, and the share that is left if
each block of queries leaves out the keys that no row of the batch needs: what packing could spare beyond
causality.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import argparse
import json
import pathlib
import statistics
import time

import numpy as np

from benchmarks.sides import batches
from benchmarks.sides.families import FAMILIES, Size
from benchmarks.tokenization import read_texts

TOKENS, WIDTH, HEADS, WARM_UP = 4096, 256, 4, 2
BLOCKS = (64, 128, 256)
BATCHES = (8, 32)


def make_step(length: int, block: int | None):
    """Returns a function that goes forward and backward once, in blocks of so many queries if given."""
    import tensorflow as tf

    from firth.layers import Attention, attention, attention_bias

    layer = Attention(WIDTH, HEADS, dropout=0.1, seed=0)
    layer.build((None, None, WIDTH))
    hidden = tf.random.normal((TOKENS // length, length, WIDTH))
    bias = attention_bias(tf.ones(hidden.shape[:2], tf.int32), causal=True)
    weights = [weight.value for weight in layer.trainable_weights]

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            tape.watch(hidden)
            output = layer(hidden, bias, causal=block is not None, training=True)
            loss = tf.reduce_sum(output * output)
        return tape.gradient(loss, [hidden, *weights])

    kept = attention.CAUSAL_BLOCK, attention.CAUSAL_BLOCKS
    # The size is read when the graph is made.
    attention.CAUSAL_BLOCK, attention.CAUSAL_BLOCKS = block or length, length
    step()
    attention.CAUSAL_BLOCK, attention.CAUSAL_BLOCKS = kept
    return lambda: step()[0].numpy()


def time_blocks(length: int, rounds: int) -> dict[str, float]:
    """Returns the median milliseconds of a layer, by what it reads in."""
    sizes = [None, *(size for size in BLOCKS if size < length)]
    steps = {f"blocks of {size}" if size else "whole rows": make_step(length, size) for size in sizes}
    seconds: dict[str, list[float]] = {name: [] for name in steps}
    for number in range(-WARM_UP, rounds):
        for name, step in steps.items():
            started = time.perf_counter()
            step()
            if number >= 0:
                seconds[name].append(time.perf_counter() - started)
    return {name: 1000 * statistics.median(taken) for name, taken in seconds.items()}


def shares(texts: list[str], length: int, batch: int) -> dict[str, float]:
    """Returns shares of the scores of packed rows: allowed, and left in windows that a whole batch needs."""
    size = Size(length=length, batch=batch)
    (lot,) = batches.text_lots(texts, FAMILIES["bert"], size, 0, 64, lots=1)
    documents = lot["document_ids"]
    allowed = (documents[:, :, np.newaxis] == documents[:, np.newaxis]) & (documents[:, :, np.newaxis] > 0)
    found = {}
    for name, mask in (("both directions", allowed), ("causal", np.tril(allowed))):
        found[f"{name}, allowed"] = float(mask.mean())
        found[f"{name}, windows"] = _windows(mask.any(axis=0), min(128, length // 4))
    return found


def _windows(needed: np.ndarray, block: int) -> float:
    length = len(needed)
    spans = 0
    for start in range(0, length, block):
        columns = np.flatnonzero(needed[start : start + block].any(axis=0))
        spans += block * (columns[-1] - columns[0] + 1)
    return spans / length**2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("lengths", nargs="*", type=int, default=[128, 256, 512, 1024])
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--json", type=pathlib.Path, help="where to write the figures")
    options = parser.parse_args()
    texts = read_texts(None, megabytes=8.0)
    results: dict[str, dict] = {}
    for length in options.lengths:
        results[str(length)] = found = {"milliseconds": time_blocks(length, options.rounds)}
        cells = (f"{name} {taken:.1f} ms" for name, taken in found["milliseconds"].items())
        print(f"length {length}: " + ", ".join(cells), flush=True)
        for batch in BATCHES:
            found[f"batch {batch}"] = shares(texts, length, batch)
            cells = (f"{name} {share:.2f}" for name, share in found[f"batch {batch}"].items())
            print(f"    scores, batch {batch}: " + ", ".join(cells), flush=True)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
