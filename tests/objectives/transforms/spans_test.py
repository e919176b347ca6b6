"""Which tokens are corrupted, over many seeds."""

import numpy as np
import pytest
import tensorflow as tf

from firth.objectives.transforms.documents import Text, ordinary_table, read_text
from firth.objectives.transforms.spans import choose_tokens, random_spans, random_tokens
from tests.objectives.rows import row, tokenizer

SEEDS = 600
RAW_LENGTH = 26
EACH = np.stack([np.full(SEEDS, 3), np.arange(SEEDS)], axis=1)


def text_of(lengths, specials=()):
    tokens = np.arange(10, 10 + sum(lengths))
    tokens[list(specials)] = 1
    example = row(tokens, lengths, range(1, len(lengths) + 1), RAW_LENGTH, 4)
    return read_text(example, ordinary_table(tokenizer()))


def over_seeds(make, outputs=1):
    """Stacked results of many seeds, as NumPy arrays."""
    signature = (tf.TensorSpec([RAW_LENGTH], tf.bool),) * outputs
    mapped = tf.function(
        lambda: tf.map_fn(lambda seed: tuple(make(seed)), EACH, fn_output_signature=signature),
        autograph=False,
    )
    return [each.numpy() for each in mapped()]


def spans_over_seeds(text, noise, spans, random_roll=True):
    # Texts share a graph.
    given = (Text(*map(tf.convert_to_tensor, text)), tf.constant(noise), tf.constant(spans))
    return [each.numpy() for each in _spans_of_seeds(*given, random_roll)]


@tf.function(autograph=False)
def _spans_of_seeds(text, noise, spans, random_roll):
    split = lambda seed: tf.random.split(seed, num=2, alg="philox")  # noqa: E731
    return tf.map_fn(
        lambda seed: tuple(random_spans(text, noise, spans, random_roll, split(seed))),
        tf.constant(EACH),
        fn_output_signature=(tf.TensorSpec([RAW_LENGTH], tf.bool),) * 2,
    )


def runs(flags):
    """Lengths of the runs of True."""
    return [len(run) for run in "".join(map(str, flags.astype(int))).split("0") if run]


@pytest.mark.parametrize("random_roll", [True, False])
def test_counts_are_exact_in_each_document(random_roll):
    is_noise, is_start = spans_over_seeds(text_of([20, 5, 1]), [6, 2, 0, 0], [2, 1, 0, 0], random_roll)
    for noise, start in zip(is_noise, is_start):
        assert [noise[:20].sum(), noise[20:25].sum(), noise[25:].sum()] == [6, 2, 0]
        assert [len(runs(noise[:20])), len(runs(noise[20:25]))] == [2, 1]
        assert [start[:20].sum(), start[20:].sum()] == [2, 1]
        for first, last in ((0, 20), (20, 25)):
            before = np.concatenate([[False], noise[first : last - 1]])
            np.testing.assert_array_equal(start[first:last], noise[first:last] & ~before)


def test_without_roll_the_first_token_is_kept_and_the_last_is_not():
    """As the reference code's default does, on 20 tokens always (t5#905)."""
    is_noise, _ = spans_over_seeds(text_of([20]), [3, 0, 0, 0], [1, 0, 0, 0], random_roll=False)
    assert not is_noise[:, 0].any()
    assert is_noise[:, 19].all()


def test_with_roll_every_token_is_corrupted_at_times():
    is_noise, _ = spans_over_seeds(text_of([20]), [3, 0, 0, 0], [1, 0, 0, 0])
    shares = is_noise[:, :20].mean(axis=0)
    # One span of 3 begins at one of 18 places, all equally likely.
    expected = np.minimum(np.minimum(np.arange(1, 21), np.arange(20, 0, -1)), 3) / 18
    np.testing.assert_allclose(shares, expected, atol=4 * np.sqrt(0.25 / SEEDS))
    is_noise, _ = spans_over_seeds(text_of([20]), [6, 0, 0, 0], [2, 0, 0, 0])
    assert is_noise[:, 0].any() and not is_noise[:, 0].all()
    assert is_noise[:, 19].any() and not is_noise[:, 19].all()


def test_every_way_of_cutting_is_as_likely():
    """6 noise tokens in 3 spans: 10 ways, and the same for 6 kept tokens."""
    is_noise, _ = spans_over_seeds(text_of([12]), [6, 0, 0, 0], [3, 0, 0, 0], random_roll=False)
    for flags in (is_noise[:, :12], ~is_noise[:, :12]):
        ways, counts = np.unique([runs(each) for each in flags], axis=0, return_counts=True)
        assert len(ways) == 10
        np.testing.assert_allclose(counts, SEEDS / 10, atol=4.5 * np.sqrt(SEEDS * 0.09))


def test_special_pieces_are_never_noise_and_do_not_count():
    specials = (2, 3, 9)
    is_noise, is_start = spans_over_seeds(text_of([20], specials), [6, 0, 0, 0], [2, 0, 0, 0])
    assert not is_noise[:, list(specials)].any()
    assert (is_noise.sum(axis=1) == 6).all()
    assert (is_start.sum(axis=1) == 2).all()
    ordinary = np.delete(is_noise[:, :20], specials, axis=1)
    assert all(len(runs(each)) == 2 for each in ordinary)
    assert is_noise[:, [1, 4]].all(axis=1).any()  # A span continues after special pieces.


def test_single_tokens_are_as_likely_and_share_sentinels():
    text = text_of([10, 8], specials=(4,))
    is_noise, is_start = over_seeds(lambda seed: random_tokens(text, tf.constant([3, 2, 0, 0]), seed), 2)
    assert (is_noise[:, :10].sum(axis=1) == 3).all()
    assert (is_noise[:, 10:18].sum(axis=1) == 2).all()
    expected = np.array([3 / 9] * 4 + [0] + [3 / 9] * 5 + [2 / 8] * 8 + [0] * 8)
    np.testing.assert_allclose(is_noise.mean(axis=0), expected, atol=4.5 * np.sqrt(0.25 / SEEDS))
    for noise, start in zip(is_noise, is_start):
        ordinary = np.delete(noise[:10], 4)
        assert start[:10].sum() == len(runs(ordinary))
        assert start[10:].sum() == len(runs(noise[10:]))


def test_choosing_among_what_is_allowed():
    text = text_of([10, 8])
    allowed = np.isin(np.arange(RAW_LENGTH), [1, 2, 3, 12])
    (chosen,) = over_seeds(lambda seed: (choose_tokens(text, allowed, tf.constant([2, 5, 1, 1]), seed),))
    assert not chosen[:, ~allowed].any()
    assert (chosen[:, :10].sum(axis=1) == 2).all()
    assert chosen[:, 12].all()
    np.testing.assert_allclose(chosen[:, 1:4].mean(axis=0), 2 / 3, atol=4 * np.sqrt(0.25 / SEEDS))
