"""Batches of `benchmarks.finetune` for peers, sorted by length. NumPy alone: all workers read it."""

import pathlib

import numpy as np

IGNORED = -100
Arrays = dict[str, np.ndarray]


def read_examples(folder: str) -> Arrays:
    """Returns the examples that `benchmarks.workers.finetune_data.prepare` wrote."""
    with np.load(pathlib.Path(folder, "examples.npz")) as arrays:
        return dict(arrays)


def sorted_batches(given: Arrays, size: int, lengths: tuple[int, ...] = ()) -> list[Arrays]:
    """Returns batches of examples of like lengths in a random order.

    Args:
        given: The examples.
        size: Examples of a batch.
        lengths: Lengths that a batch is padded to; without them, to its longest example.

    Returns:
        For each batch `ids`, `segments` and `real`, [examples, length], and `labels`: [examples], for spans
        [examples, 2], for tokens [examples, length] with `IGNORED` where there is none.
    """
    ends = np.cumsum(given["lengths"])
    order = np.argsort(-given["lengths"], kind="stable")
    made = [_batch(given, order[start : start + size], ends, lengths) for start in range(0, len(order), size)]
    return [made[index] for index in np.random.default_rng(0).permutation(len(made))]


def _batch(given: Arrays, members: np.ndarray, ends: np.ndarray, lengths: tuple[int, ...]) -> Arrays:
    sizes = given["lengths"][members]
    places = [slice(ends[member] - given["lengths"][member], ends[member]) for member in members]
    longest = min((each for each in lengths if each >= sizes.max()), default=sizes.max())
    real = np.arange(longest) < sizes[:, None]

    def padded(name: str, padding: int) -> np.ndarray:
        filled = np.full(real.shape, padding, "int64")
        filled[real] = np.concatenate([given[name][place] for place in places])
        return filled

    if given["head"] == "tokens":
        labels = padded("labels", IGNORED)
    else:
        of_records = given["labels"].reshape(len(given["lengths"]), -1)[members].astype("int64")
        labels = of_records if given["head"] == "spans" else of_records[:, 0]
    return {"ids": padded("ids", 0), "segments": padded("segments", 0), "real": real, "labels": labels}
