"""Runs of pieces or words that are predicted together: n-grams and spans of random lengths.

A row is cut into consecutive runs of random lengths, of which some are taken in random order. So runs need no
search for free places, and a token's chance does not depend on its place in the row.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from firth.objectives.transforms.masking import number_words, taken_units


def uniform_lengths(longest: int) -> npt.NDArray[Any]:
    """Returns equal probabilities of the lengths 1 to `longest`, float64 [longest]."""
    return np.full(longest, 1 / longest)


def harmonic_lengths(longest: int) -> npt.NDArray[Any]:
    """Returns probabilities of 1 to `longest` in proportion to 1/n (Lan et al. 2019, section 4.1).

    Example:

    >>> harmonic_lengths(3).round(3).tolist()
    [0.545, 0.273, 0.182]
    """
    weights = 1 / np.arange(1, longest + 1)
    return weights / weights.sum()


def geometric_lengths(parameter: float, longest: int) -> npt.NDArray[Any]:
    """Returns the geometric distribution, cut off at `longest` (Joshi et al. 2019, section 3.1).

    Example: the mean length in the paper.

    >>> lengths = geometric_lengths(0.2, 10)
    >>> round(float(lengths @ np.arange(1, 11)), 2)
    3.8
    """
    weights = parameter * (1 - parameter) ** np.arange(longest)
    return weights / weights.sum()


def select_runs(
    maskable: tf.Tensor,
    unit_starts: tf.Tensor | None,
    lengths: npt.NDArray[np.float64],
    budget: tf.Tensor,
    seeds: tf.Tensor,
    apart: bool = False,
) -> tf.Tensor:
    """Returns bool [length]: runs of whole units, at most `budget` tokens of them.

    A run ends at a token that is not maskable, and so at the end of a document. The last run is cut after as
    many units as fit. A unit for which there is no room is skipped, so fewer than `budget` tokens may be
    selected.

    Args:
        maskable: bool [length], True on tokens that may be selected.
        unit_starts: bool [length], True where a word begins; None if each token is a unit.
        budget: Most tokens to select, int32 [].
        seeds: Seeds, int32 or int64 [2, 2].

    Example: the runs of two are (0) (1 2) (4) (5 6) (7), since the row begins within one and a special token
    parts another; three of them are taken.

    >>> maskable = [True, True, True, False, True, True, True, True]
    >>> select_runs(maskable, None, [0.0, 1.0], 4, seeds=[[0, 1], [0, 2]]).numpy().astype(int)
    array([1, 0, 0, 0, 0, 1, 1, 1])
    """
    maskable = tf.convert_to_tensor(maskable)
    units = tf.range(tf.size(maskable)) if unit_starts is None else number_words(maskable, unit_starts)
    run_of_unit, is_free = cut_runs(tf.size(maskable), lengths, seeds[0], apart)
    allowed = maskable & tf.gather(is_free, units)
    runs = _parted(tf.gather(run_of_unit, units), maskable)
    draws = tf.random.stateless_uniform(tf.shape(maskable), seeds[1], alg="philox")
    # Tokens of a run have one draw, so they stay together in the order of the draws, and in their own order.
    draws = tf.where(allowed, tf.gather(draws, runs), 2.0)
    if unit_starts is None:
        return allowed & (tf.math.invert_permutation(tf.argsort(draws, stable=True)) < budget)
    count = tf.size(units)
    sizes = tf.math.unsorted_segment_sum(tf.cast(allowed, tf.int32), units, count)
    # A unit's tokens have one draw too; units that do not exist come last.
    order = tf.argsort(tf.math.unsorted_segment_min(draws, units, count), stable=True)
    return allowed & taken_units(sizes, order, budget, units)


def cut_runs(
    count: tf.Tensor, lengths: npt.NDArray[np.float64], seed: tf.Tensor, apart: bool
) -> tuple[tf.Tensor, tf.Tensor]:
    """Cuts `count` units into consecutive runs.

    The first run is one that began before the row, cut off at the row's begin: then no place of the row is
    more likely to begin or to end a run than another.

    Args:
        seed: Seed, int32 or int64 [2].

    Returns:
        int32 [count], the number of each unit's run, ascending from 0; and bool [count], False on the last
        unit of each run if runs are `apart`.
    """
    lengths = np.concatenate([np.zeros(int(apart)), lengths])
    reaching_in = np.cumsum(lengths[::-1])[::-1]
    draws = tf.random.stateless_uniform([count], seed, alg="philox")
    drawn = tf.concat([_draw(reaching_in / reaching_in.sum(), draws[:1]), _draw(lengths, draws[1:])], 0)
    ends, places = tf.cumsum(drawn), tf.range(count)
    runs = tf.searchsorted(ends, places, side="right")
    is_free = (tf.gather(ends, runs) > places + 1) if apart else tf.ones_like(places, tf.bool)
    return runs, is_free


def _draw(probabilities: npt.NDArray[np.float64], draws: tf.Tensor) -> tf.Tensor:
    """Returns int32 lengths from 1, for uniform draws."""
    bounds = tf.constant(np.cumsum(probabilities)[:-1], tf.float32)
    return 1 + tf.searchsorted(bounds, draws, side="right")


def _parted(runs: tf.Tensor, maskable: tf.Tensor) -> tf.Tensor:
    """Numbers runs again, from 0, so that tokens that are not maskable separate them."""
    begins = tf.concat([[False], (runs[1:] != runs[:-1]) | ~maskable[:-1]], 0)
    return tf.cumsum(tf.cast(begins, tf.int32))
