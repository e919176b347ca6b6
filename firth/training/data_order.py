"""Stateless randomness of training data: the order of rows, their negative rows and their seeds.

Everything is a function of (recipe seed, epoch, example), so a restarted run goes on as if it had never
stopped, and skips to any step at no cost.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from firth import features
from firth.training.rows import Rows

# Kept apart, so that equal numbers in different roles do not give equal draws.
_PERMUTATION, _PARTNER, _OBJECTIVE, _NOISE, _STAGE = 1, 2, 3, 4, 5


def mix(*values: npt.NDArray[Any] | int) -> npt.NDArray[np.uint64]:
    """Returns a hash of integers, uint64, broadcast over arrays (the finaliser of SplitMix64).

    Example:

    >>> mix(42, 0, [7, 8]).shape, bool(mix(1, 2) == mix(2, 1))
    ((2,), False)
    """
    with np.errstate(over="ignore"):
        mixed = np.asarray(0, np.uint64)
        for value in values:
            mixed = mixed ^ np.asarray(value, np.int64).astype(np.uint64)
            mixed = mixed + np.uint64(0x9E3779B97F4A7C15)
            mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            mixed = mixed ^ (mixed >> np.uint64(31))
    return np.asarray(mixed)


def shuffled_rows(places: tf.Tensor, rows: int, seed: int) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns the row and the epoch of places in the endless stream of training examples.

    Each epoch is a permutation of all rows, which is computed place by place and never held in memory.

    Args:
        places: Places in the stream, int64 [n].

    Returns:
        Numbers of rows and epochs, int64 [n] each.

    Example:

    >>> indices, epochs = shuffled_rows(tf.range(6, dtype=tf.int64), rows=3, seed=42)
    >>> sorted(indices.numpy()[:3].tolist()), epochs.numpy().tolist()
    ([0, 1, 2], [0, 0, 0, 1, 1, 1])
    """
    epochs = places // rows
    ones = tf.ones_like(epochs)
    seeds = tf.stack([ones * int(mix(seed, _PERMUTATION).astype(np.int64)), epochs, ones], axis=1)
    # The raw op, as tf.random.experimental.index_shuffle of TensorFlow 2.16 takes a single seed only.
    indices = tf.raw_ops.RandomIndexShuffle(
        index=places % rows, seed=seeds, max_index=ones * (rows - 1), rounds=4
    )
    return indices, epochs


def stage_seed(seed: int, number: int) -> int:
    """Returns the seed of a run's stage; the first one has the recipe's.

    Example:

    >>> stage_seed(42, 0), stage_seed(42, 1) == stage_seed(42, 2)
    (42, False)
    """
    return int(mix(seed, _STAGE, number).astype(np.int64)) if number else seed


def objective_seeds(
    seed: int, epochs: npt.NDArray[np.int64], example_ids: npt.NDArray[np.int64]
) -> npt.NDArray[Any]:
    """Returns the seed of each example in its epoch, int64 [n, 2]: a hash of seed and epoch, the id.

    Args:
        epochs: Epoch of each example, int64 [n].
        example_ids: Id of each example, int64 [n].
    """
    hashes = mix(seed, _OBJECTIVE, epochs).astype(np.int64)
    return np.stack([hashes, np.asarray(example_ids, np.int64)], axis=-1)


def noise_keys(
    seed: int, epochs: npt.NDArray[np.int64], example_ids: npt.NDArray[np.int64]
) -> npt.NDArray[Any]:
    """Returns the keys that the dropout of each example follows from in its epoch, int32 [n, 2].

    Args:
        epochs: Epoch of each example, int64 [n].
        example_ids: Id of each example, int64 [n].

    Example:

    >>> noise_keys(42, np.array([0, 1]), np.array([7, 7])).shape
    (2, 2)
    """
    return mix(seed, _NOISE, epochs, example_ids).reshape(-1, 1).view(np.int32)


def choose_negatives(
    rows: Rows,
    example_ids: npt.NDArray[np.int64],
    document_keys: npt.NDArray[np.int64],
    epochs: npt.NDArray[np.int64],
    seed: int,
) -> npt.NDArray[Any]:
    """Returns for each example a random row that shares no document with it, int64 [n], or -1 if there is
    none.

    Probing begins at a hash of (seed, epoch, example id) and goes forward, around the end, to the first row
    whose documents are all others.

    Args:
        example_ids: Id of each example, int64 [n].
        document_keys: Document keys of the examples, int64 [n, max_documents].
        epochs: Epoch of each example, int64 [n].
    """
    starts = mix(seed, _PARTNER, epochs, example_ids) % np.uint64(len(rows))
    return np.array([_probe(rows, int(start), own) for start, own in zip(starts, document_keys)], np.int64)


def _probe(rows: Rows, start: int, own: npt.NDArray[np.int64]) -> int:
    own, probed, width = own[own != 0], 0, 16
    while probed < len(rows):
        width = min(width, len(rows) - probed)
        candidates = (start + probed + np.arange(width)) % len(rows)
        free = ~np.isin(rows.take_field(features.DOCUMENT_KEYS, candidates), own).any(axis=1)
        if free.any():
            return candidates[np.argmax(free)]
        probed, width = probed + width, 2 * width
    return -1
