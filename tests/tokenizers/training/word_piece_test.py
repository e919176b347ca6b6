import collections
import itertools
import os
import random
import subprocess
import sys

import hypothesis
import pytest
from hypothesis import strategies as st

from firth.tokenizers import train_wordpiece
from tests.tokenizers.golden.hard_strings import SPECIALS

LOW = {"low": 5, "lower": 2, "newest": 6, "widest": 3}


def train_slowly(word_counts, size, min_frequency):
    """The algorithm as it is described, counting anew for each merge."""
    characters: collections.Counter = collections.Counter()
    for word, count in word_counts.items():
        characters.update({c: word.count(c) * count for c in set(word)})
    alphabet = sorted(c for c, count in characters.items() if count >= min_frequency)
    pieces = [*alphabet, *(f"##{c}" for c in alphabet)]
    words = {w: [w[0], *(f"##{c}" for c in w[1:])] for w in word_counts if set(w) <= set(alphabet)}
    while len(pieces) < size - 5:
        pairs: collections.Counter = collections.Counter()
        for word, spelled in words.items():
            for pair in itertools.pairwise(spelled):
                pairs[pair] += word_counts[word]
        if not pairs or max(pairs.values()) < min_frequency:
            break
        first, second = best = max(pairs, key=lambda pair: (pairs[pair], pair))
        merged = first + second[2:]
        for spelled in words.values():
            for index in range(len(spelled)):
                if tuple(spelled[index : index + 2]) == best:
                    spelled[index : index + 2] = [merged]
        pieces += [merged] * (merged not in pieces)
    return [*SPECIALS, *pieces]


def test_merges_of_a_literal_example():
    """##e ##s and ##s ##t occur 9 times each, and the greater pair is merged; then ##e ##st 9 times;
    l ##o and ##o ##w 7 times each; lo ##w 7 times; n ##e, ##e ##w and ##w ##est 6 times each; ne ##w 6 times.
    """
    alphabet = sorted("lowernstid")
    pieces = train_wordpiece(LOW, 5 + 20 + 6, min_frequency=2)
    assert pieces[:25] == [*SPECIALS, *alphabet, *(f"##{c}" for c in alphabet)]
    assert pieces[25:] == ["##st", "##est", "lo", "low", "ne", "new"]


def test_of_equal_counts_the_greater_pair_wins():
    assert train_wordpiece({"ab": 3, "ba": 3, "bb": 3}, 10, 1)[-1] == "bb"
    # A piece is greater than what it begins with.
    assert train_wordpiece({"zab": 2, "zac": 2}, 5 + 8 + 2, 1)[-2:] == ["za", "zac"]


@hypothesis.settings(max_examples=75, deadline=None, derandomize=True)
@hypothesis.given(
    word_counts=st.dictionaries(st.text("abc", min_size=1, max_size=9), st.integers(1, 20), max_size=12),
    size=st.integers(11, 40),
    min_frequency=st.integers(1, 6),
)
def test_it_equals_the_slow_way(word_counts, size, min_frequency):
    assert train_wordpiece(word_counts, size, min_frequency) == train_slowly(word_counts, size, min_frequency)


def test_the_order_of_the_mapping_does_not_matter():
    rng = random.Random(3)
    words = ["".join(rng.choices("abcdefgh", k=rng.randint(1, 12))) for _ in range(500)]
    counts = {word: rng.randint(1, 9) for word in words}
    expected = train_wordpiece(counts, 300, 2)
    for _ in range(3):
        shuffled = list(counts.items())
        rng.shuffle(shuffled)
        assert train_wordpiece(dict(shuffled), 300, 2) == expected


def test_the_hash_seed_does_not_matter():
    program = (
        "from firth.tokenizers import train_wordpiece;"
        "words = {f'{n}ing{n % 7}': 1 + n % 3 for n in range(700)};"
        "print(train_wordpiece(words, 200, 1))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1


def test_counts_above_32_and_64_bits():
    huge = {"ab": 2**33, "cd": 2**33 + 1, "ef": 2**70}
    assert train_wordpiece(huge, 5 + 12 + 2, 1)[-2:] == ["ef", "cd"]


def test_special_pieces_come_first_and_pieces_are_unique():
    pieces = train_wordpiece(LOW, 60, 1)
    assert pieces[:5] == SPECIALS
    assert len(set(pieces)) == len(pieces) <= 60


def test_fewer_pieces_where_nothing_is_frequent_enough():
    assert len(train_wordpiece(LOW, 10_000, 2)) < 60
    assert train_wordpiece({}, 100, 2) == SPECIALS
    assert train_wordpiece({"once": 1}, 100, 2) == SPECIALS


def test_the_alphabet_is_cut_to_the_room_and_to_its_limit():
    counts = {"a": 9, "b": 8, "c": 7}
    assert train_wordpiece(counts, 9, 1) == [*SPECIALS, "a", "b", "##a", "##b"]
    many = {chr(0x4E00 + index): 1 for index in range(1500)}
    assert len(train_wordpiece(many, 5000, 1)) == 5 + 1000


def test_punctuation_stands_alone():
    pieces = train_wordpiece({"a": 2, ".": 2, "中": 2, "a.": 9}, 100, 1)
    assert pieces == [*SPECIALS, ".", "a", "中", "##a"]


@pytest.mark.parametrize(("size", "frequency", "name"), [(5, 1, "vocabulary_size"), (50, 0, "min_frequency")])
def test_impossible_settings(size, frequency, name):
    with pytest.raises(ValueError, match=name):
        train_wordpiece(LOW, size, frequency)
