"""The training data of given steps: rows in shuffled order, turned into Features."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from firth import features
from firth.training.data_order import choose_negatives, noise_keys, objective_seeds, shuffled_rows
from firth.training.distribution import WHOLE, BatchShare
from firth.training.rows import Rows


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
        epochs_drawn: Function from epochs, int64 [n], to those whose masks and second segments they have; the
            noise of dropout is their own.

    Returns:
        Elements are (example ids int64 [rows], features by name, [rows, ...] each, with
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
