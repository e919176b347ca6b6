import random

import hypothesis
import pytest
from hypothesis import strategies as st

from firth.tokenizers import WordPieceTokenizer, count_words, train_wordpiece
from tests.tokenizers.golden.hard_strings import SPECIALS


def test_words_of_a_literal_text():
    counts = count_words(
        ["The fox's Zoë—THE\u00a0end.", "[MASK] 中文 [mask]", ""], lowercase=True, specials=["[MASK]"]
    )
    assert counts == {
        **{"the": 2, "fox": 1, "'": 1, "s": 1, "zoe": 1, "—": 1, "end": 1, ".": 1},
        **{"中": 1, "文": 1, "[": 1, "mask": 1, "]": 1},
    }


def test_case_is_kept_where_asked():
    assert count_words(["Zoë zoë"], lowercase=False) == {"Zoë": 1, "zoë": 1}


def test_no_texts_and_long_words():
    assert count_words([], lowercase=True) == {}
    assert count_words(["a" * 101 + " " + "я" * 100], lowercase=True) == {"я" * 100: 1}


@hypothesis.settings(max_examples=100, deadline=None, derandomize=True)
@hypothesis.given(texts=st.lists(st.text(max_size=40), max_size=5))
@pytest.mark.parametrize("lowercase", [True, pytest.param(False, marks=pytest.mark.repeated)])
def test_words_equal_the_reference(both, lowercase, texts):
    expected: dict[str, int] = {}
    for text in texts:
        for word in both[lowercase][1].words(text, SPECIALS):
            expected[word] = expected.get(word, 0) + 1
    assert count_words(texts, lowercase, specials=SPECIALS) == expected


def test_counting_in_batches_adds_up():
    rng = random.Random(0)
    texts = [" ".join(rng.choices(["a", "b.", "É", "中"], k=9)) for _ in range(20)]
    whole = count_words(texts, True)
    parts = [count_words([text], True) for text in texts]
    assert whole == {word: sum(part.get(word, 0) for part in parts) for word in whole}


def test_what_was_counted_can_be_encoded():
    """Every word of a trained corpus, with its characters all frequent, is covered by pieces."""
    texts = ["The quick brown fox jumps over the lazy dog. 中文!", "Zoë's naïve façade…"]
    tokenizer = WordPieceTokenizer(train_wordpiece(count_words(texts, True), 200, 1))
    assert tokenizer.unk_id not in tokenizer.tokenize(texts).flat_values.numpy()
    assert tokenizer.get_vocabulary()[:5] == SPECIALS
