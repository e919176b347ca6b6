"""Words that become pieces of a tokenizer: only what becomes one piece is added, and all else stays."""

import pytest

from firth.tokenizers import WordPieceTokenizer
from firth.tokenizers.extending import add_words, words_to_add

PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "re", "##m", "##des", "##ivir", "fox", "."]


@pytest.fixture
def tokenizer():
    return WordPieceTokenizer(PIECES)


def test_an_added_word_is_one_piece_and_other_text_is_as_before(tokenizer):
    texts = ["The fox.", "rem", "remdes", "a [MASK]."]
    before = tokenizer.tokenize(texts).to_list()
    extended = add_words(tokenizer, ["remdesivir", "covid"])
    assert extended.tokenize("the Remdesivir covid.").numpy().tolist() == [5, 12, 13, 11]
    assert tokenizer.tokenize("remdesivir").numpy().tolist() == [6, 7, 8, 9]
    assert extended.tokenize(texts).to_list() == before
    assert extended.detokenize([12, 11]).numpy() == b"remdesivir ."
    assert extended.digest != tokenizer.digest


@pytest.mark.parametrize(("words", "problem"), [
    (["fox"], "'fox' is a piece already"),
    (["covid", "covid"], "'covid' is a piece already"),
    (["Covid"], "'Covid' cannot be one piece"),
    (["covid-19"], "'covid-19' cannot be one piece"),
    (["two words"], "'two words' cannot be one piece"),
    (["##vid"], "'##vid' cannot be one piece"),
    ([""], "piece 12 of the vocabulary is ''"),
])  # fmt: skip
def test_what_cannot_be_one_piece_is_refused(tokenizer, words, problem):
    with pytest.raises(ValueError, match=problem):
        add_words(tokenizer, words)


def test_the_words_that_save_most_tokens_are_chosen(tokenizer):
    counts = {"the": 100, "fox": 50, "remdesivir": 4, "rem": 9, "covid": 10, "remdes": 4, "remm": 1}
    assert words_to_add(tokenizer, counts, 9) == ["remdesivir", "covid", "rem", "remdes"]
    assert words_to_add(tokenizer, counts, 1) == ["remdesivir"]
    assert words_to_add(tokenizer, counts, 0) == words_to_add(tokenizer, {}, 5) == []
    assert "remm" in words_to_add(tokenizer, counts, 9, min_frequency=1)
