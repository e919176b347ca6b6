"""No length tells the label of a pair: over real packing of sentences and documents as long as real ones."""

import functools

import numpy as np
import pytest
import tensorflow as tf

from firth import features
from firth.objectives.rates.length_leak import told_by_length
from firth.objectives.transforms.next_sentences import choose_pairs
from firth.objectives.transforms.pairs import choose_order
from tests.objectives.realistic import documents, packed

PAIRS, BATCH = 10_000, 1000
SHAPES = [(128, 1), pytest.param((128, 8), marks=pytest.mark.repeated)]
FIELDS = ("second_sources", "first_lengths", "second_lengths", "is_other", "is_pair")


@functools.cache
def rows_of(length, max_documents):
    """Rows of one document each, a quarter of them cut from longer ones, or of up to eight short ones."""
    median = length // 2 if max_documents == 1 else length // 8
    texts = documents(4000, median)
    return packed(texts, length, 3, max_documents, short_seq_prob=0.1)


def pairs_of(choose, rows):
    """Numpy arrays [rows, max_documents] of at least so many labelled pairs, and which rows they are of."""
    held = {name: tf.constant(value) for name, value in rows.items()}
    rng, count = np.random.default_rng(5), len(rows[features.RAW_TOKENS])

    def one(places):
        row, negative = ({name: value[place] for name, value in held.items()} for place in places[:2])
        made = choose(row, negative, places[2])
        return tuple(getattr(made, name) for name in FIELDS)

    run = tf.function(lambda *places: tf.vectorized_map(one, places), autograph=False)
    found, labelled = [], 0
    while labelled < PAIRS:
        mine, others = rng.integers(0, count, (2, BATCH))
        made = [value.numpy() for value in run(mine, others, rng.integers(0, 2**31, (BATCH, 4, 2)))]
        found.append([*made, mine, others])
        labelled += int(made[-1].sum())
    return [np.concatenate(each) for each in zip(*found)]


def next_sentence(row, negative, seeds):
    return choose_pairs(row, negative, 0.5, seeds)


def sentence_order(row, negative, seeds):
    return choose_order(row, 0.5, seeds[:2])


@pytest.fixture(scope="module", params=SHAPES, ids=lambda shape: f"{shape[0]}-{shape[1]}")
def rows(request):
    return rows_of(*request.param)


@pytest.mark.parametrize("choose", [next_sentence, sentence_order])
def test_no_length_tells_the_label(rows, choose):
    sources, first, second, is_other, is_pair, mine, others = pairs_of(choose, rows)
    labels = is_other[is_pair].astype(int)
    assert abs(labels.mean() - 0.5) < 0.02
    total = first + second
    padding = total.sum(axis=1).max() - np.repeat(total.sum(axis=1), total.shape[1]).reshape(total.shape)
    for name, lengths in {"A": first, "B": second, "both": total, "padding": padding}.items():
        told = told_by_length(lengths[is_pair], labels)
        assert told < 0.53, f"{name}: {told:.3f}"
    if choose is next_sentence:
        check_ends(rows, sources, second, is_other, is_pair, mine, others)


def check_ends(rows, sources, second, is_other, is_pair, mine, others):
    """Nor does it tell the label that B ends with a sentence, or begins with one, or that it has a label."""
    size = rows[features.RAW_TOKENS].shape[1]
    starts = rows[features.SENTENCE_STARTS] > 0
    chunks = np.cumsum(rows[features.CHUNK_LENGTHS], axis=1)
    places = np.arange(size + 1)
    ends = np.pad(starts, [[0, 0], [0, 1]]) | (chunks[:, :, np.newaxis] == places).any(axis=1)
    of_rows = np.where(is_other, others[:, np.newaxis], mine[:, np.newaxis])
    begin = np.where(is_other, sources - size, sources)
    ended = ends[of_rows, np.minimum(begin + second, size)]
    begun = starts[of_rows, np.minimum(begin, size - 1)]
    for flags in (ended, begun):
        shares = [flags[is_pair & (is_other == label)].mean() for label in (False, True)]
        assert abs(shares[0] - shares[1]) < 0.04, shares
    of_two = rows[features.CHUNK_LENGTHS][mine] >= 2
    assert is_pair[of_two].mean() > 0.6


def test_a_threshold_is_tried_on_other_pairs_than_those_it_was_chosen_on():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 4000)
    assert told_by_length(rng.integers(0, 4000, 4000), labels) < 0.53
    for lengths in (labels * 5 + rng.integers(0, 5, 4000), 9 - labels * 5 - rng.integers(0, 5, 4000)):
        assert told_by_length(lengths, labels) == 1.0
    mixed = np.where(rng.random(4000) < 0.3, 1 - labels, labels)
    assert told_by_length(mixed, labels) == pytest.approx(0.7, abs=0.03)
