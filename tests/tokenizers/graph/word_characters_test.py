from firth.tokenizers.graph.word_characters import word_characters


def test_long_words_are_cut_to_their_first_bytes():
    (row,) = word_characters([b"x" * 80], 50).numpy()
    assert row.tolist() == [259, *[ord("x") + 1] * 48, 260]


def test_every_byte_has_a_character_of_its_own():
    rows = word_characters([bytes([byte]) for byte in range(256)], 4).numpy()
    assert rows[:, 1].tolist() == list(range(1, 257))
