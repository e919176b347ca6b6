"""The training data of given steps: rows in a stateless random order, turned into Features."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from firth import features
from firth.training.rows import Rows
from firth.training.workers import WHOLE, BatchShare


def training_batches(
    rows: Rows,
    objective: Callable[..., dict[str, tf.Tensor]],
    seed: int,
    batch_size: int,
    start_step: int,
    steps: int,
    negatives: bool = True,
    epochs_drawn: Callable[[npt.NDArray[Any]], npt.NDArray[Any]] = lambda epochs: epochs,
    run: tuple[int, int] | None = None,
    share: BatchShare = WHOLE,
) -> tf.data.Dataset:
    """Returns the batches of steps `start_step` to `steps - 1`, or a share of each.

    Step s holds the places s x batch_size and following of an endless stream of epochs. Each epoch is a new
    permutation of all rows, with the masks and random second segments of the epoch that `epochs_drawn` gives.
    So the content of a step does not depend on where the dataset starts.

    Args:
        epochs_drawn: Function from epochs, int64 [n], to epochs with the same masks and second segments; the
            noise of dropout differs.

    Returns:
        Elements are (example ids int64 [rows], features by name, [rows, ...] each, with `noise_keys`).
    """

    @tf.autograph.experimental.do_not_convert
    def fetch(places: tf.Tensor) -> tuple[dict[str, tf.Tensor], dict[str, tf.Tensor], tf.Tensor, tf.Tensor]:
        indices, epochs = shuffled_rows(places, len(rows), seed)
        return _fetch(rows, indices, epochs, epochs_drawn, seed, negatives)

    first, of_run = run or (0, steps)
    own = share.rows(batch_size)
    batches = tf.data.Dataset.range(start_step * batch_size, steps * batch_size).batch(batch_size, True)
    places = batches.map(lambda batch: batch[own.start : own.stop])
    examples = tf.data.Dataset.zip((places.unbatch(), places.map(fetch).unbatch()))

    @tf.autograph.experimental.do_not_convert
    def make(place: tf.Tensor, fetched: tuple[Any, ...]) -> tuple[tf.Tensor, dict[str, tf.Tensor]]:
        row, negative, row_seed, noise_key = fetched
        step = first + place // batch_size
        row = {**row, features.PROGRESS: tf.cast(step, tf.float64) / max(of_run - 1, 1)}
        made = {**objective(row, negative, row_seed), features.NOISE_KEYS: noise_key}
        return row[features.EXAMPLE_ID], made

    made = examples.map(make, num_parallel_calls=tf.data.AUTOTUNE, deterministic=True)
    # The batches of all replicas of this process are made ahead.
    return made.batch(share.rows_of_replica(batch_size), drop_remainder=True).prefetch(
        2 * share.local_replicas
    )


def _fetch(
    rows: Rows,
    indices: tf.Tensor,
    epochs: tf.Tensor,
    epochs_drawn: Callable[[npt.NDArray[Any]], npt.NDArray[Any]],
    seed: int,
    negatives: bool,
) -> tuple[dict[str, tf.Tensor], dict[str, tf.Tensor], tf.Tensor, tf.Tensor]:
    """Returns rows, negative rows, seeds and noise keys of one batch in a single call into Python."""
    names = sorted(rows.specs)

    def read(indices: npt.NDArray[np.int64], epochs: npt.NDArray[np.int64]) -> list[npt.NDArray[Any]]:
        taken = rows.take(indices)
        ids = taken[features.EXAMPLE_ID]
        drawn = epochs_drawn(epochs)
        seeds, keys = objective_seeds(seed, drawn, ids), noise_keys(seed, epochs, ids)
        negative = take_negatives(rows, taken, drawn, seed, negatives)
        return [*(taken[name] for name in names), *(negative[name] for name in names), seeds, keys]

    dtypes = [tf.as_dtype(rows.specs[name].dtype) for name in names]
    values = tf.numpy_function(read, [indices, epochs], [*dtypes, *dtypes, tf.int64, tf.int32])
    count = len(names)
    row, negative = (
        {name: tf.ensure_shape(value, [None, *rows.specs[name].shape]) for name, value in zip(names, part)}
        for part in (values[:count], values[count : 2 * count])
    )
    return row, negative, *(tf.ensure_shape(value, [None, 2]) for value in values[-2:])


def take_negatives(
    rows: Rows, taken: dict[str, Any], epochs: npt.NDArray[np.int64], seed: int, wanted: bool = True
) -> dict[str, npt.NDArray[Any]]:
    """Returns a negative row for each of some rows, as `Rows.take` gives them; zeros for a row without one.

    Args:
        epochs: Epoch of each, int64 [n].
    """
    if not wanted:
        return {name: np.zeros_like(value) for name, value in taken.items()}
    ids, keys = taken[features.EXAMPLE_ID], taken[features.DOCUMENT_KEYS]
    chosen = choose_negatives(rows, ids, keys, epochs, seed)
    negative = rows.take(np.maximum(chosen, 0))
    for value in negative.values():
        value[chosen < 0] = 0
    return negative


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
    """Returns the seeds of the dropout of each example in its epoch, int32 [n, 2].

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
