"""Words of texts with their places, whatever characters a text holds."""

import tensorflow as tf

from firth.tasks.word_offsets import split_words

CONTROLS = [*map(chr, [*range(1, 9), *range(0x0E, 0x20), *range(0x7F, 0xA0)]), "\u2028", "\u2029", "\ufeff"]


def test_no_character_ends_a_text_and_words_stand_at_their_places():
    texts = [f"ab{character}cd ef. é" for character in ["\0", *CONTROLS]]
    texts += ["a\0b \1 \0 c\1d\0", "\0", "", "北\0京 \U0001f600\0!"]
    found = split_words(tf.constant(texts))
    columns = zip(texts, *(each.to_list() for each in found), strict=True)
    for text, words, starts, ends in columns:
        assert [word.decode() for word in words] == [text[s:e] for s, e in zip(starts, ends)]
    assert all(row[-3:] == [b"ef", b".", "é".encode()] for row in found.texts.to_list()[: len(CONTROLS) + 1])
    assert found.texts.to_list()[-4:-2] == [[b"a\0b", b"c\1d\0"], []]


def test_a_huge_text_of_words_takes_the_memory_of_its_words():
    """A copy of the text for each word would be some terabytes."""
    found = split_words(tf.constant(["all the words \0 " * 100_000, "one"]))
    assert found.texts.row_lengths().numpy().tolist() == [300_000, 1]
