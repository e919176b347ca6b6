"""The form of a pair does not tell its label: real packing, sentences and documents as long as real ones."""

import functools

import numpy as np
import pytest
import tensorflow as tf

from firth import features
from firth.objectives.rates.pair_rates import forest_accuracy
from firth.objectives.transforms.next_sentences import choose_pairs
from firth.objectives.transforms.pairs import choose_order
from tests.objectives.realistic import documents, packed

PAIRS, BATCH = 3000, 1000
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

    # Traced once, where each batch has a graph of its own around it.
    @tf.function(autograph=False)
    def one(mine, other, seeds):
        row, negative = ({name: value[place] for name, value in held.items()} for place in (mine, other))
        made = choose(row, negative, seeds)
        return tuple(getattr(made, name) for name in FIELDS)

    found, labelled = [], 0
    while labelled < PAIRS:
        mine, others = rng.integers(0, count, (2, BATCH))
        drawn = (mine, others, rng.integers(0, 2**31, (BATCH, 4, 2)))
        data = tf.data.Dataset.from_tensor_slices(drawn)
        pairs = data.map(one, num_parallel_calls=tf.data.AUTOTUNE).batch(BATCH).get_single_element()
        made = [value.numpy() for value in pairs]
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


@pytest.mark.repeated
def test_nothing_but_the_words_tells_a_random_segment(rows):
    """Not its length, its sentences, or its ends, of texts that are not those that a forest has seen."""
    sources, first, second, is_other, is_pair, mine, others = pairs_of(next_sentence, rows)
    labels = is_other[is_pair].astype(int)
    assert abs(labels.mean() - 0.5) < 0.02
    total = first + second
    padding = np.broadcast_to(total.sum(axis=1, keepdims=True), total.shape)
    form = forms(rows, sources, second, is_other, mine, others)
    documents = rows[features.DOCUMENT_KEYS][mine][is_pair]
    for values in ((first, second, total, padding), (second, *form)):
        told = forest_accuracy(np.column_stack([each[is_pair] for each in values]), labels, documents)
        assert told < 0.525
    assert is_pair[rows[features.CHUNK_LENGTHS][mine] >= 2].mean() > 0.6


@pytest.mark.repeated
def test_no_length_tells_the_order(rows):
    _, first, second, is_other, is_pair, mine, _ = pairs_of(sentence_order, rows)
    labels, documents = is_other[is_pair].astype(int), rows[features.DOCUMENT_KEYS][mine][is_pair]
    for lengths in (first, second, first + second):
        assert forest_accuracy(lengths[is_pair][:, np.newaxis], labels, documents) < 0.53


def forms(rows, sources, second, is_other, mine, others):
    """Of each B: its sentences, the tokens up to its first sentence end and after the last, and whether it
    begins with a sentence, and ends with one.
    """
    size = rows[features.RAW_TOKENS].shape[1]
    starts = rows[features.SENTENCE_STARTS] > 0
    chunks = np.cumsum(rows[features.CHUNK_LENGTHS], axis=1)
    places = np.arange(size + 1)
    ends = np.pad(starts, [[0, 0], [0, 1]]) | (chunks[:, :, np.newaxis] == places).any(axis=1)
    of_rows = np.where(is_other, others[:, np.newaxis], mine[:, np.newaxis])
    begin = np.clip(np.where(is_other, sources - size, sources), 0, size - 1)
    end = np.clip(begin + second, 0, size)
    counts = np.pad(np.cumsum(ends, axis=1), [[0, 0], [1, 0]])
    # The nearest end after a place, and before it.
    after = np.minimum.accumulate(np.where(ends, places, size)[:, ::-1], axis=1)[:, ::-1]
    before = np.maximum.accumulate(np.where(ends, places, 0), axis=1)
    return (
        counts[of_rows, end + 1] - counts[of_rows, begin + 1],
        np.minimum(after[of_rows, np.minimum(begin + 1, size)], end) - begin,
        end - np.maximum(before[of_rows, end], begin),
        starts[of_rows, begin],
        ends[of_rows, end],
    )


def test_a_forest_is_tried_on_other_documents_than_those_it_was_grown_on():
    rng = np.random.default_rng(0)
    labels, documents = rng.integers(0, 2, 4000), np.arange(4000) // 40
    assert forest_accuracy(rng.normal(size=(4000, 3)), labels, documents) < 0.53
    sure = (labels * 5 + rng.integers(0, 5, 4000))[:, np.newaxis]
    assert forest_accuracy(sure, labels, documents) == 1.0
    # Neither of two numbers tells it, but both of them do.
    both = rng.integers(0, 2, (2, 4000))
    told = forest_accuracy(both.T, both[0] ^ both[1], documents)
    assert told == 1.0
    # What tells the label of a document's own pairs tells nothing of another document's.
    of_documents = (documents % 2)[:, np.newaxis] * 100 + documents[:, np.newaxis]
    assert forest_accuracy(of_documents, rng.integers(0, 2, 100)[documents], documents) < 0.8
