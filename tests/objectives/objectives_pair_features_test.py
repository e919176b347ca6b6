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
    expected = made.rows[features.CHUNK_LENGTHS] >= 2
    weights = made.features[f"{task}_weights"] > 0
    if task == "next_sentence":
        for index, number in np.argwhere(expected):
            expected[index, number] = can_be_random(made, index, number, weights[index, number])
        assert 0.3 < expected[made.rows[features.CHUNK_LENGTHS] >= 2].mean() < 0.95
    np.testing.assert_array_equal(weights, expected)
    assert not made.features[f"{task}_labels"][~expected].any()


def can_be_random(made, index, number, otherwise):
    """Whether some rest fits what the negative has; chunks of one sentence are left alone."""
    rests = sentence_rests(made.rows, index, lambda key, place: place == number)
    if not rests:
        return otherwise
    own = made.rows[features.DOCUMENT_KEYS][index, number]
    offered = sentence_rests(made.negatives, index, lambda key, place: key != own)
    return bool(offered) and min(rests) <= max(offered)


def sentence_rests(rows, index, is_wanted):
    """Tokens from each sentence within some of a row's chunks, not the one at its start, to its end."""
    found, start = [], 0
    lengths, keys = rows[features.CHUNK_LENGTHS][index], rows[features.DOCUMENT_KEYS][index]
    for place, (length, key) in enumerate(zip(lengths, keys)):
        if is_wanted(key, place):
            marks = rows[features.SENTENCE_STARTS][index, start + 1 : start + length]
            found += (length - 1 - np.flatnonzero(marks)).tolist()
        start += length
    return found


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
    assert randoms > 50


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
