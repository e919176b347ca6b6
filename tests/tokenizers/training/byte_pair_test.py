import collections
import itertools
import random

import hypothesis
import pytest
from hypothesis import strategies as st

from firth.tokenizers import count_byte_words, train_byte_pairs
from firth.tokenizers.graph.byte_pieces import byte_pieces, to_bytes, to_piece
from firth.tokenizers.graph.special_pieces import SPECIAL_PIECES
from firth.tokenizers.graph.vocabulary import sentinel_pieces
from firth.tokenizers.training.byte_pair import merge_byte_pairs
from tests.shared_data import shared_data

LECTURE = {"low_": 5, "lowest_": 2, "newer_": 6, "wider_": 3, "new_": 2}


def merge_slowly(word_counts, merges, min_frequency, ties):
    """The algorithm as it is described, counting anew for each merge; `max` takes the first of equals."""
    words = {word: [to_piece(bytes([byte])) for byte in to_bytes(word)] for word in word_counts}
    made = []
    while len(made) < merges:
        pairs: collections.Counter = collections.Counter()
        for word, spelled in words.items():
            for pair in itertools.pairwise(spelled):
                pairs[pair] += word_counts[word]
        if not pairs or max(pairs.values()) < min_frequency:
            break
        if ties == "first_seen":
            best = max(pairs, key=pairs.get)
        else:
            best = max(pairs, key=lambda pair: (pairs[pair], *map(to_bytes, pair)))
        for spelled in words.values():
            for index in range(len(spelled)):
                if tuple(spelled[index : index + 2]) == best:
                    spelled[index : index + 2] = ["".join(best)]
        made += ["".join(best)] * ("".join(best) not in made)
    return made


def test_the_lecture_s_example():
    merged = merge_byte_pairs(LECTURE, 256 + 8, 1, "first_seen")[256:]
    assert merged == ["er", "er_", "ne", "new", "lo", "low", "newer_", "low_"]


def test_of_equal_counts_the_greater_pair_of_bytes_wins():
    assert merge_byte_pairs({"ab": 3, "ba": 3, "bb": 3}, 257, 1)[-1] == "bb"
    # As bytes a space is less than a letter, though its character, Ġ, is greater.
    assert merge_byte_pairs({"Ġx": 3, "ax": 3}, 257, 1)[-1] == "ax"


@pytest.mark.repeated
@pytest.mark.needs_data("golden/bpe_train", twin="test_it_equals_the_slow_way")
def test_the_reference_merges_of_a_real_corpus():
    folder = shared_data("golden/bpe_train")
    text = (folder / "corpus.en").read_bytes().decode()
    lines = (folder / "train-bpe-reference-merges.txt").read_text(encoding="utf-8").split("\n")
    expected = [line.replace(" ", "") for line in lines if line]
    assert len(expected) == 243
    assert merge_byte_pairs(count_byte_words([text]), 256 + 243, 1)[256:] == expected


@hypothesis.settings(max_examples=100, deadline=None, derandomize=True)
@hypothesis.given(
    word_counts=st.dictionaries(st.text("abĠ", min_size=1, max_size=9), st.integers(1, 9), max_size=10),
    merges=st.integers(1, 30),
    min_frequency=st.integers(1, 5),
    ties=st.sampled_from(["greater", "first_seen"]),
)
def test_it_equals_the_slow_way(word_counts, merges, min_frequency, ties):
    found = merge_byte_pairs(word_counts, 256 + merges, min_frequency, ties)[256:]
    assert found == merge_slowly(word_counts, merges, min_frequency, ties)


def test_the_order_of_the_mapping_does_not_matter():
    rng = random.Random(3)
    counts = {"".join(rng.choices("abcdefghĠ", k=rng.randint(1, 12))): rng.randint(1, 9) for _ in range(400)}
    shuffled = list(counts.items())
    rng.shuffle(shuffled)
    assert train_byte_pairs(dict(shuffled), 500, 2) == train_byte_pairs(counts, 500, 2)


def test_counts_above_64_bits():
    assert merge_byte_pairs({"ab": 2**33, "cd": 2**33 + 1, "ef": 2**70}, 258, 1)[256:] == ["ef", "cd"]


def test_the_vocabulary_has_special_pieces_bytes_merges_and_sentinels():
    pieces = train_byte_pairs(LECTURE, 5 + 256 + 4 + 2, 1, sentinels=2)
    assert pieces[:5] == list(SPECIAL_PIECES)
    assert pieces[5:261] == byte_pieces()
    assert pieces[-2:] == sentinel_pieces(2)
    assert len(pieces) == len(set(pieces)) == 267
    assert len(train_byte_pairs({}, 1000, 1)) == 261


@pytest.mark.parametrize(("size", "frequency", "name"), [(260, 1, "vocabulary_size"), (300, 0, "min_freq")])
def test_impossible_settings(size, frequency, name):
    with pytest.raises(ValueError, match=name):
        train_byte_pairs(LECTURE, size, frequency)


def test_words_of_a_literal_text():
    counts = count_byte_words(["The cat's  hat[MASK]\n", "[PAD] é", "", "x" * 257], ["[PAD]", "[MASK]"])
    assert counts == {"The": 1, "Ġcat": 1, "'s": 1, "Ġ": 1, "Ġhat": 1, "Ċ": 1, "ĠÃ©": 1}
    assert count_byte_words([]) == {}
