"""The training data of given steps: rows in shuffled order, turned into Features."""

from collections.abc import Callable

import numpy as np
import tensorflow as tf

from firth import features
from firth.training.order import choose_partners, noise_keys, objective_seeds, shuffled_rows
from firth.training.rows import Rows


def training_batches(
    rows: Rows,
    objective,
    seed: int,
    batch_size: int,
    start_step: int,
    steps: int,
    partners: bool = True,
    epochs_drawn: Callable[[np.ndarray], np.ndarray] = lambda epochs: epochs,
) -> tf.data.Dataset:
    """Returns the batches of steps `start_step` to `steps - 1`.

    Step s holds the places s x batch_size and following of an endless stream of epochs, each of which is
    a new permutation of all rows, with the masks and random second segments of the epoch that `epochs_drawn`
    gives. So what a step holds does
    not depend on where the dataset starts.

    Args:
        rows: The training split.
        objective: Makes Features of a row, its partner and a seed.
        seed: Of the recipe.
        batch_size: Examples of a batch, for all replicas.
        start_step: Steps already done; skipping them costs nothing.
        steps: Of the whole run.
        partners: Look for a row of other documents for each; without, partners are all zeros.
        epochs_drawn: From epochs, int64 [n], to those whose masks and second segments they have; the noise of
            dropout is their own.

    Returns:
        Elements are (example ids int64 [batch_size], features by name, [batch_size, ...] each, with
        `firth.features.NOISE_KEYS` among them).
    """

    @tf.autograph.experimental.do_not_convert
    def fetch(places):
        indices, epochs = shuffled_rows(places, len(rows), seed)
        return _fetch(rows, indices, epochs, epochs_drawn, seed, partners)

    places = tf.data.Dataset.range(start_step * batch_size, steps * batch_size)
    examples = places.batch(batch_size, drop_remainder=True).map(fetch).unbatch()

    @tf.autograph.experimental.do_not_convert
    def make(row, partner, row_seed, noise_key):
        made = {**objective(row, partner, row_seed), features.NOISE_KEYS: noise_key}
        return row[features.EXAMPLE_ID], made

    made = examples.map(make, num_parallel_calls=tf.data.AUTOTUNE, deterministic=True)
    return made.batch(batch_size, drop_remainder=True).prefetch(2)


def _fetch(rows: Rows, indices, epochs, epochs_drawn, seed, partners):
    """Returns rows, partners, seeds and noise keys of one batch in a single call into Python."""
    names = sorted(rows.specs)

    def read(indices, epochs):
        taken = rows.take(indices)
        ids = taken[features.EXAMPLE_ID]
        drawn = epochs_drawn(epochs)
        seeds, keys = objective_seeds(seed, drawn, ids), noise_keys(seed, epochs, ids)
        partner = take_partners(rows, taken, drawn, seed) if partners else _zeros(taken)
        return [*(taken[name] for name in names), *(partner[name] for name in names), seeds, keys]

    dtypes = [tf.as_dtype(rows.specs[name].dtype) for name in names]
    values = tf.numpy_function(read, [indices, epochs], [*dtypes, *dtypes, tf.int64, tf.int32])
    count = len(names)
    row, partner = (
        {name: tf.ensure_shape(value, [None, *rows.specs[name].shape]) for name, value in zip(names, part)}
        for part in (values[:count], values[count : 2 * count])
    )
    return row, partner, *(tf.ensure_shape(value, [None, 2]) for value in values[-2:])


def take_partners(rows: Rows, taken: dict, epochs, seed: int) -> dict[str, np.ndarray]:
    """Returns a partner of each of some rows, as `Rows.take` gives them; all zeros where there is none."""
    ids, keys = taken[features.EXAMPLE_ID], taken[features.DOCUMENT_KEYS]
    chosen = choose_partners(rows, ids, keys, epochs, seed)
    partner = rows.take(np.maximum(chosen, 0))
    for value in partner.values():
        value[chosen < 0] = 0
    return partner


def _zeros(taken):
    return {name: np.zeros_like(value) for name, value in taken.items()}
