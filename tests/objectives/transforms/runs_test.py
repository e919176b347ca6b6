import numpy as np
import pytest
import tensorflow as tf

from firth.objectives.transforms.runs import (
    cut_runs,
    geometric_lengths,
    harmonic_lengths,
    select_runs,
    uniform_lengths,
)

SEEDS = np.stack([np.zeros(1000, int), np.arange(1000)], axis=1)


def over_seeds(function, dtype, seeds=SEEDS):
    return tf.function(
        lambda: tf.map_fn(function, seeds, fn_output_signature=dtype), autograph=False
    )().numpy()


@pytest.mark.parametrize(
    "lengths, apart",
    [
        (geometric_lengths(0.2, 10), False),
        pytest.param(geometric_lengths(0.2, 10), True, marks=pytest.mark.repeated),
        (harmonic_lengths(3), True),
        (uniform_lengths(5), False),
        pytest.param([0.8, 0.1, 0.1], True, marks=pytest.mark.repeated),
    ],
)
def test_lengths_follow_the_distribution(lengths, apart):
    """Of runs that begin well before the row's end, which would leave out the longer ones."""
    count, seen = 40, np.zeros(len(lengths))
    rows = over_seeds(lambda seed: tf.stack(stack_int(cut_runs(count, lengths, seed, apart))), tf.int32)
    for runs, is_free in rows:
        begins = np.flatnonzero(np.diff(runs)) + 1
        for begin in begins[begins < 25]:
            seen[((runs == runs[begin]) & (is_free > 0)).sum() - 1] += 1
    total = seen.sum()
    bound = 4.5 * np.sqrt(np.array(lengths) * (1 - np.array(lengths)) / total)
    assert (abs(seen / total - lengths) <= bound).all()


def stack_int(pair):
    return [tf.cast(each, tf.int32) for each in pair]


def test_no_place_is_more_likely_than_another():
    """Neither the row's first words nor those after a special token."""
    maskable = np.ones(30, bool)
    maskable[[0, 12, 13, 29]] = False
    lengths = geometric_lengths(0.2, 10)
    for apart in (False, True):
        selected = over_seeds(
            lambda seed, apart=apart: select_runs(
                maskable, maskable, lengths, 6, tf.random.split(seed, alg="philox"), apart
            ),
            tf.bool,
        )
        assert not selected[:, ~maskable].any()
        shares = selected[:, maskable].mean(axis=0)
        mean = shares.mean()
        # The last run is cut at its end, so the words before a special token come a little short.
        assert (abs(shares - mean) < 0.35 * mean).all()


def test_runs_that_are_kept_apart_do_not_touch():
    starts = np.random.default_rng(0).random(40) < 0.7
    maskable = np.arange(40) % 17 != 0

    def select(seed):
        seeds = tf.random.split(seed, alg="philox")
        chosen = select_runs(maskable, starts, [0.0, 1.0], 12, seeds, apart=True)
        runs, free = cut_runs(40, [0.0, 1.0], seeds[0], True)
        return tf.stack([tf.cast(chosen, tf.int32), runs, tf.cast(free, tf.int32)])

    words = np.cumsum(maskable & (starts | np.roll(~maskable, 1)))
    for chosen, _, _ in over_seeds(select, tf.int32, SEEDS[:300]):
        for span in np.split(np.arange(40), np.flatnonzero(np.diff(chosen)) + 1):
            if chosen[span[0]]:
                # At most two words, all of both.
                assert len(set(words[span])) <= 2
                assert np.isin(words, words[span])[maskable].sum() == len(span)


def test_the_budget_is_used_up_and_never_exceeded():
    maskable = np.arange(40) % 9 != 0
    budgets = np.repeat([0, 1, 7, 20], 100)

    def select(each):
        seeds = tf.random.split(each[1:], alg="philox")
        return select_runs(maskable, None, uniform_lengths(5), tf.cast(each[0], tf.int32), seeds)

    selected = over_seeds(select, tf.bool, np.column_stack([budgets, SEEDS[: len(budgets)]]))
    assert (selected.sum(axis=1) == budgets).all()


def test_a_word_that_does_not_fit_is_skipped():
    starts = [True, False, False, True, False, False]
    chosen = over_seeds(
        lambda seed: select_runs([True] * 6, starts, [1.0], 2, tf.random.split(seed, alg="philox")),
        tf.bool,
        SEEDS[:20],
    )
    assert not chosen.any()
