import pytest
from hypothesis import given, settings, strategies as st

from firth.reports.held_out import HeldOutRow, join_pieces, masked_sentences
from firth.tokenizers.tokenizer_kinds import TOKENIZERS

VOCABULARY = ["[PAD]", "[UNK]", "the", "cat", "sat", "on", "mat", "##s", ".", "a"]
SENTENCE = [2, 3, 7, 4, 5, 9, 6, 8]  # the cat ##s sat on a mat .


def row(tokens, starts=(), chunks=(), example_id=1):
    marks = [int(index in (0, *starts)) for index in range(len(tokens))]
    return HeldOutRow(example_id, "books", tokens, marks, chunks or [len(tokens)])


def masked(*rows, seed=0, vocabulary=VOCABULARY):
    return list(masked_sentences(rows, vocabulary, seed))


def test_a_literal_sentence():
    (sentence,) = masked(row(SENTENCE))
    assert (sentence.before, sentence.answer, sentence.after) in [
        ("", "the", "cats sat on a mat."),
        ("the cats", "sat", "on a mat."),
        ("the cats sat on a", "mat", "."),
    ]


@pytest.mark.parametrize(("kind", "space"), [("bpe", "Ġ"), ("sentencepiece", "▁")])
def test_sentences_in_pieces_that_hold_their_spaces(kind, space):
    pieces = ["[PAD]", "[UNK]", *(f"{space}{word}" for word in ("the", "cat", "sat", "on", "mat")), "s", "."]
    vocabulary = [TOKENIZERS[kind].as_word_piece(piece) for piece in (*pieces, f"{space}a")]
    rows = [row(SENTENCE, example_id=number) for number in range(20)]
    assert masked(*rows, vocabulary=vocabulary) == masked(*rows)


def test_whole_words_of_three_letters_only_and_all_of_them_come_up():
    found = masked(*(row(SENTENCE, example_id=number) for number in range(60)))
    assert {sentence.answer for sentence in found} == {"the", "sat", "mat"}


def test_sentences_end_at_chunks_and_sentence_starts():
    both = SENTENCE + SENTENCE
    assert all(len(sentence.text.split()) < 9 for sentence in masked(row(both, starts=[8])))
    assert all(len(sentence.text.split()) < 9 for sentence in masked(row(both, chunks=[8, 8])))


def test_short_long_and_special_sentences_are_left_out():
    assert masked(row([2, 3, 4])) == []
    assert masked(row([2] * 33)) == []
    assert masked(row([*SENTENCE, 1])) == []
    assert masked(row([])) == []


def test_the_choice_depends_on_seed_and_row_alone():
    rows = [row(SENTENCE, example_id=number) for number in range(20)]
    assert masked(*rows) == [sentence for one in rows for sentence in masked(one)]
    assert masked(*rows) != masked(*rows, seed=1)


@given(st.lists(st.sampled_from(VOCABULARY[2:]), min_size=1, max_size=12))
@settings(max_examples=50, deadline=None, derandomize=True)
def test_joining_loses_no_letter(pieces):
    assert join_pieces(pieces).replace(" ", "") == "".join(pieces).replace("##", "")
