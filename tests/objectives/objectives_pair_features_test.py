"""Next sentence prediction and sentence order, over random rows."""

import numpy as np
import pytest

from firth import features
from tests.objectives.cases import CASES, ROWS, make
from tests.objectives.recovery import by_document, segments

TASKS = {
    name: "sentence_order" if case.config.sentence_order else "next_sentence"
    for name, case in CASES.items()
    if getattr(case.config, "has_pairs", False)
}


@pytest.fixture(params=TASKS)
def made(request):
    return make(request.param)


def task_of(made):
    return "sentence_order" if made.config.sentence_order else "next_sentence"


def test_weights_are_1_where_a_chunk_can_be_split_and_has_something_to_choose(made):
    task = task_of(made)
    splits = made.rows[features.CHUNK_LENGTHS] >= 2
    weights = made.features[f"{task}_weights"] > 0
    assert not made.features[f"{task}_labels"][~weights].any()
    if task == "sentence_order":
        np.testing.assert_array_equal(weights, splits)
        return
    assert not weights[~splits].any() and 0.3 < weights[splits].mean() < 0.95
    # Each chunk of the negative row is that of one chunk.
    others = (made.negatives[features.CHUNK_LENGTHS] >= 2).sum(axis=1)
    assert (weights.sum(axis=1) <= others).all()
    alone = (made.rows[features.CHUNK_LENGTHS] > 0).sum(axis=1) == 1
    for index in np.flatnonzero(alone & ((made.negatives[features.CHUNK_LENGTHS] > 0).sum(axis=1) == 1)):
        can_be_split = [has_sentences(rows, index) for rows in (made.rows, made.negatives)]
        differ = (
            made.rows[features.DOCUMENT_KEYS][index, 0] != made.negatives[features.DOCUMENT_KEYS][index, 0]
        )
        assert weights[index, 0] or not (all(can_be_split) and differ)


def has_sentences(rows, index):
    """Returns true if the only chunk of a row has a second sentence."""
    return rows[features.SENTENCE_STARTS][index, 1 : rows[features.CHUNK_LENGTHS][index, 0]].any()


def test_pooled_positions_are_where_documents_begin(made):
    for one, documents in made.each():
        first = [int(np.argmax(one[features.DOCUMENT_IDS] == number + 1)) for number in range(len(documents))]
        pooled = one[features.POOLED_POSITIONS].tolist()
        assert pooled == first + [0] * (len(pooled) - len(first))
        assert (one[features.TOKEN_IDS][first] == 2).all()


def test_segment_ids_are_1_from_the_second_segment_on(made):
    for one, _ in made.each():
        for (first, second), numbers in zip(
            segments(one), by_document(one, one[features.SEGMENT_IDS]), strict=True
        ):
            assert numbers == [0] * (len(first) + 2) + [1] * (len(second) + 1)


def test_a_random_segment_comes_from_another_document():
    """google-research/bert accepts the same document after ten tries, and says it is another one."""
    made, randoms = make("masked_lm"), 0
    for index, (one, documents) in enumerate(made.each()):
        foreign = list(
            zip(made.negatives[features.DOCUMENT_KEYS][index], made.documents(index, negative=True))
        )
        for number, ((first, second), truth) in enumerate(zip(segments(one), documents)):
            if one[features.NEXT_SENTENCE_LABELS][number]:
                own = made.rows[features.DOCUMENT_KEYS][index, number]
                assert 0 < len(second) <= len(truth) - len(first)
                assert any(holds(text, second) for key, text in foreign if key != own)
                randoms += 1
    assert randoms > 18


def holds(text, part):
    return any(text[start : start + len(part)] == part for start in range(1, len(text)))


def test_without_a_negative_no_pair_has_a_label():
    made = make("masked_lm")
    alone = made.again(negatives={name: np.zeros_like(value) for name, value in made.rows.items()})
    assert not alone[features.NEXT_SENTENCE_LABELS].any()
    assert not alone[features.NEXT_SENTENCE_WEIGHTS].any()
    for index in range(ROWS):
        one = {name: value[index] for name, value in alone.items()}
        assert [first + second for first, second in segments(one)] == made.documents(index)


def test_half_of_the_pairs_are_swapped_and_none_is_random():
    """Each document is whole in its two segments, whether it had few sentences or none (albert#234)."""
    made = make("masked_lm-order")
    weights = made.features[features.SENTENCE_ORDER_WEIGHTS] > 0
    labels = made.features[features.SENTENCE_ORDER_LABELS][weights]
    assert abs(labels.mean() - 0.5) < 4 * 0.5 / np.sqrt(len(labels))
    for one, documents in made.each():
        for (first, second), truth in zip(segments(one), documents, strict=True):
            assert sorted(first + second) == sorted(truth)
    other = make("masked_lm").negatives
    again = made.again(negatives=other)
    for name, value in made.features.items():
        np.testing.assert_array_equal(value, again[name], name)
    assert len(labels) > ROWS / 2
