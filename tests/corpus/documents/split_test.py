from hypothesis import given, settings, strategies as st

from firth.corpus.documents.split import EVAL, SPLITS, TRAIN, HashRange, hash_range, join_ranges, split_of

TEXTS = st.sets(st.text(), min_size=2, max_size=20)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(TEXTS, st.floats(0.0, 1.0))
def test_two_texts_or_more_always_fill_both_splits(texts, eval_fraction):
    whole = hash_range(texts)
    assert {split_of(text, eval_fraction, whole) for text in texts} == set(SPLITS)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.lists(st.text(), min_size=1, max_size=20), st.integers(1, 7))
def test_the_range_does_not_depend_on_how_texts_are_batched(texts, size):
    batches = [texts[start : start + size] for start in range(0, len(texts), size)]
    assert join_ranges(map(hash_range, [*batches, []])) == hash_range(texts)


def test_the_share_of_eval_is_about_the_fraction():
    texts = [f"text {number}" for number in range(5_000)]
    whole = hash_range(texts)
    count = sum(split_of(text, 0.1, whole) == EVAL for text in texts)
    assert 400 < count < 600


def test_a_single_text_is_for_training():
    assert split_of("alone", 0.99, hash_range(["alone"])) == TRAIN


def test_no_text_has_the_widest_range():
    assert hash_range([]) == join_ranges([]) == HashRange(0.0, 1.0)
