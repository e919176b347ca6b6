"""Gain of blocks without forbidden scores: causal attention, and packed rows.

    python -m benchmarks.attention                              # lengths 128, 256, 512 and 1024
    python -m benchmarks.attention 512 --rounds 20 --json figures.json

The time of forward and backward of one layer of attention (width 256, 4 heads, dropout 0.1, 4096 tokens), in
turn, medians: reading whole rows; with a causal mask, in blocks of queries each without the keys after it;
and only the blocks of queries and keys of which some score is allowed. Once in packed rows of real documents,
once where each row is one document, the worst case for the last. Next to it the share of scores that the mask
allows.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import argparse
import json
import pathlib
import statistics
import time

import numpy as np

from benchmarks.tokenization import read_texts
from benchmarks.workers import batches
from benchmarks.workers.families import FAMILIES, Size
from firth.corpus.packing.rows import pack

TOKENS, WIDTH, HEADS, WARM_UP = 4096, 256, 4, 2
NEVER = 10**9
# Name, queries of a block of causal attention, and tokens from which on rows are read in needed blocks.
CAUSAL_WAYS = {"whole rows": (NEVER, NEVER), "blocks of queries": (256, NEVER), "needed blocks": (256, 1)}
WAYS = {name: CAUSAL_WAYS[name] for name in ("whole rows", "needed blocks")}


def make_step(documents: np.ndarray, causal: bool, way: tuple[int, int]):
    """Returns a function that goes forward and backward once."""
    import tensorflow as tf

    from firth.layers import Attention
    from firth.layers.attention import block_sparse, softmax_attention
    from firth.layers.attention.attention_bias import attention_bias

    layer = Attention(WIDTH, HEADS, dropout=0.1, seed=0)
    layer.build((None, None, WIDTH))
    hidden = tf.random.normal((*documents.shape, WIDTH))
    bias = attention_bias(documents, causal=causal)
    weights = [weight.value for weight in layer.trainable_weights]

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            tape.watch(hidden)
            # The last way is for causal masks, and right for any.
            output = layer(hidden, bias, causal=causal or way[1] == 1, training=True)
            loss = tf.reduce_sum(output * output)
        return tape.gradient(loss, [hidden, *weights])

    kept = softmax_attention.CAUSAL_BLOCK, block_sparse.FEWEST_TOKENS
    # These are read when the graph is made.
    softmax_attention.CAUSAL_BLOCK, block_sparse.FEWEST_TOKENS = way
    step()
    softmax_attention.CAUSAL_BLOCK, block_sparse.FEWEST_TOKENS = kept
    return lambda: step()[0].numpy()


def time_ways(documents: np.ndarray, causal: bool, rounds: int) -> dict[str, float]:
    """Returns the median milliseconds of a layer, by how it reads."""
    steps = {
        name: make_step(documents, causal, way) for name, way in (CAUSAL_WAYS if causal else WAYS).items()
    }
    seconds: dict[str, list[float]] = {name: [] for name in steps}
    for number in range(-WARM_UP, rounds):
        for name, step in steps.items():
            started = time.perf_counter()
            step()
            if number >= 0:
                seconds[name].append(time.perf_counter() - started)
    return {name: 1000 * statistics.median(taken) for name, taken in seconds.items()}


def packed_documents(texts: list[str], length: int) -> np.ndarray:
    """Returns the document ids of packed rows, int32 [rows, length]."""
    size = Size(length=length, batch=TOKENS // length)
    (lot,) = batches.text_lots(texts, FAMILIES["bert"], size, 0, 64, lots=1, pack=pack)
    return lot["document_ids"].astype(np.int32)


def allowed_share(documents: np.ndarray, causal: bool) -> float:
    """Returns the share of all scores that the mask allows."""
    allowed = documents[:, :, np.newaxis] == documents[:, np.newaxis]
    return float((np.tril(allowed) if causal else allowed).mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("lengths", nargs="*", type=int, default=[128, 256, 512, 1024])
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--json", type=pathlib.Path, help="where to write the figures")
    options = parser.parse_args()
    texts = read_texts(None, megabytes=8.0)
    results: dict[str, dict] = {}
    for length in options.lengths:
        packed = packed_documents(texts, length)
        for rows, documents in {"packed": packed, "one document a row": np.ones_like(packed)}.items():
            for mask, causal in {"both directions": False, "causal": True}.items():
                found = time_ways(documents, causal, options.rounds)
                share = allowed_share(documents, causal)
                results[f"{length}, {rows}, {mask}"] = {"allowed": share, "milliseconds": found}
                cells = (f"{name} {taken:.0f} ms" for name, taken in found.items())
                print(f"length {length}, {rows}, {mask}, {share:.0%}: " + ", ".join(cells), flush=True)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
