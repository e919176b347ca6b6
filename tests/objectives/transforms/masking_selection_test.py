import numpy as np
import pytest
import tensorflow as tf

from firth.objectives.transforms.masking import count_predictions, select_pieces, select_words

LENGTH = 24


@pytest.mark.parametrize("maskable", range(0, 140))
def test_count_is_bert_s_over_what_is_maskable(maskable):
    flags = np.arange(150) < maskable
    expected = min(max(1, round(0.15 * maskable)), 20) if maskable else 0
    assert int(count_predictions(flags, 0.15, 20)) == expected


def test_counts_of_others_differ():
    """25 pieces between [CLS] and [SEP]: BERT counts 27 tokens, tensorflow-text rounds up."""
    assert int(count_predictions([True] * 25, 0.1, 20)) == 2
    assert max(1, round(0.1 * 27)) == 3  # google-research/bert
    assert int(np.ceil(0.1 * 25)) == 3  # tensorflow-text


def over_seeds(select, seeds):
    return tf.function(
        lambda: tf.map_fn(select, seeds, fn_output_signature=tf.bool), autograph=False
    )().numpy()


def test_every_piece_is_as_likely_as_any_other():
    maskable = np.arange(8) % 2 == 0
    seeds = np.stack([np.zeros(2000, int), np.arange(2000)], axis=1)
    counts = over_seeds(lambda seed: select_pieces(maskable, 1, seed), seeds).sum(axis=0)
    assert counts.sum() == 2000
    assert not counts[~maskable].any()
    np.testing.assert_allclose(counts[maskable], 500, atol=4 * np.sqrt(2000 * 0.25 * 0.75))


def words_of(maskable, starts):
    """Naive: lists of positions."""
    words: list[list[int]] = []
    open_word = False
    for position, (allowed, start) in enumerate(zip(maskable, starts)):
        if allowed and (start or not open_word):
            words.append([])
        if allowed:
            words[-1].append(position)
        open_word = allowed
    return words


@pytest.fixture(scope="module")
def whole_words():
    rng = np.random.default_rng(3)
    maskable, starts = rng.random((300, LENGTH)) < 0.9, rng.random((300, LENGTH)) < 0.4
    budgets, seeds = rng.integers(0, 12, 300), rng.integers(0, 1000, (300, 2))
    data = (
        tf.data.Dataset.from_tensor_slices((maskable, starts, budgets, seeds))
        .map(tf.autograph.experimental.do_not_convert(select_words))
        .batch(300)
    )
    return maskable, starts, budgets, next(iter(data)).numpy()


def test_words_are_whole_and_within_the_budget(whole_words):
    for maskable, starts, budget, selected in zip(*whole_words):
        for word in words_of(maskable, starts):
            assert len(set(selected[word])) == 1
        assert selected.sum() <= budget
        assert not selected[~maskable].any()


def test_no_word_that_still_fits_is_left(whole_words):
    for maskable, starts, budget, selected in zip(*whole_words):
        room = budget - selected.sum()
        for word in words_of(maskable, starts):
            assert selected[word[0]] or len(word) > room


def test_words_are_taken_in_random_order():
    """Of words of 1 and 3 pieces with a budget of 3, each comes first in half of the cases."""
    starts, seeds = [True, True, False, False], np.stack([np.arange(1000), np.arange(1000)], axis=1)
    sizes = over_seeds(lambda seed: select_words([True] * 4, starts, 3, seed), seeds).sum(axis=1)
    assert set(sizes) == {1, 3}
    assert abs((sizes == 3).mean() - 0.5) < 4 * 0.5 / np.sqrt(1000)


def test_nothing_is_selected_where_every_word_is_too_long():
    assert not select_words([True] * 3, [True, False, False], 2, seed=[0, 0]).numpy().any()
