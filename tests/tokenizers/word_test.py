"""Whole words and their characters."""

import pickle

import numpy as np
import pytest
import tensorflow as tf

from firth.tokenizers import WordTokenizer, build_word_vocabulary, count_words, load_tokenizer, save_tokenizer
from tests.tokenizers.golden.hard_strings import STRINGS

WORDS = ["<S>", "</S>", "<UNK>", "the", "cat", "sat", ".", "Zoë"]


def test_unknown_words_keep_their_characters():
    tokenizer = WordTokenizer(WORDS)
    words = tokenizer.split(["the qat sat"])
    assert tokenizer.word_ids(words).to_list() == [[3, 2, 5]]
    spelled = tokenizer.characters(words.flat_values).numpy()
    assert len({row.tobytes() for row in spelled}) == 3
    assert spelled[1, :6].tolist() == [259, *(byte + 1 for byte in b"qat"), 260, 261]


def test_sentence_marks_are_no_word():
    tokenizer = WordTokenizer(WORDS, max_characters=6)
    assert tokenizer.bos_characters.tolist() == [259, 257, 260, 261, 261, 261]
    assert tokenizer.eos_characters.tolist() == [259, 258, 260, 261, 261, 261]


def bilm_tf(word: str, max_characters: int) -> list[int]:
    """Returns the row of a word in bilm-tf's `UnicodeCharsVocabulary`, with the 1 that its batcher adds."""
    marks = {"<S>": [256], "</S>": [257]}
    inside = marks.get(word, list(word.encode()[: max_characters - 2]))
    row = [258, *inside, 259]
    return [each + 1 for each in row + [260] * (max_characters - len(row))]


@pytest.mark.parametrize("lowercase", [False, True])
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<S> the cat </S>", ["<S>", "the", "cat", "</S>"]),
        ("<S> <S> <S>\t</S>", ["<S>", "<S>", "<S>", "</S>"]),
        ("the <UNK> sat", ["the", "<UNK>", "sat"]),
        ("a<S>b", ["a", "<", "s", ">", "b"]),
        ("<s> \x800\x80", ["<", "s", ">", "0"]),
    ],
)
def test_typed_marks_are_the_vocabulary_s(text, words, lowercase):
    tokenizer = WordTokenizer(WORDS, max_characters=9, lowercase=lowercase)
    cased = [word if lowercase or word != "s" or "<s>" in text else "S" for word in words]
    by_name = lambda text: tokenizer.split(text, specials=WORDS[:3]).flat_values  # noqa: E731
    for split in (by_name, tf.function(by_name, autograph=False)):
        found = split(tf.constant([text]))
        assert [word.decode() for word in found.numpy()] == cased
        assert tokenizer.characters(found).numpy().tolist() == [bilm_tf(word, 9) for word in cased]
    ids = [WORDS.index(word) if word in WORDS else 2 for word in cased]
    assert tokenizer.tokenize(text, specials=WORDS[:3]).numpy().tolist() == ids


def test_splits_hard_strings_as_counting_does():
    tokenizer = WordTokenizer(WORDS)
    for text in STRINGS:
        counted = count_words([text], lowercase=False, max_word_characters=10**6)
        found = [word.decode() for word in tokenizer.split([text]).flat_values.numpy()]
        assert sorted(found) == sorted(word for word, count in counted.items() for _ in range(count))


def test_vocabulary_is_sorted_by_descending_count():
    counts = {"a": 5, "b": 9, "c": 5, "d": 1, "<S>": 100}
    assert build_word_vocabulary(counts, 10) == ["<S>", "</S>", "<UNK>", "b", "c", "a", "d"]
    assert build_word_vocabulary(dict(reversed(counts.items())), 5) == ["<S>", "</S>", "<UNK>", "b", "c"]
    assert "d" not in build_word_vocabulary(counts, 10, min_frequency=2)


def test_saved_pickled_and_in_a_graph(tmp_path):
    tokenizer = WordTokenizer(WORDS, max_characters=12)
    digest = save_tokenizer(tokenizer, tmp_path / "words")
    loaded = load_tokenizer(tmp_path / "words", expected_digest=digest)
    assert loaded.settings == {"lowercase": False, "max_characters": 12}
    text = tf.constant(["the Zoë.", "", "cat"])
    for other in (loaded, pickle.loads(pickle.dumps(tokenizer))):
        assert other.tokenize(text).to_list() == [[3, 7, 6], [], [4]]
        compiled = tf.function(other.tokenize, autograph=False)
        assert compiled(text).to_list() == [[3, 7, 6], [], [4]]


def test_a_vocabulary_without_its_marks_is_refused():
    with pytest.raises(ValueError, match="begins with <S>, </S>, <UNK>"):
        WordTokenizer(["the", "cat", "sat"])


def test_lowercase():
    assert WordTokenizer(["<S>", "</S>", "<UNK>", "zoe"], lowercase=True).tokenize(
        "ZOË"
    ).numpy().tolist() == [3]
    assert np.array_equal(WordTokenizer(WORDS).word_start_table, np.ones(8, bool))
