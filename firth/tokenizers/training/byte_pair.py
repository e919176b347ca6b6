"""Merging of the most frequent pairs of pieces, and training byte-level byte-pair encoding with it."""

import collections
import heapq
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

from firth.tokenizers.graph.byte_pieces import byte_pieces, to_bytes
from firth.tokenizers.graph.special_pieces import SPECIAL_PIECES
from firth.tokenizers.graph.vocabulary import sentinel_pieces

Pair = tuple[int, int]
Ties = Literal["greater", "first_seen"]


class Merger:
    """Words as lists of piece numbers, the counts of all adjacent pairs, and a heap of these.

    Heap entries are never changed: a count that has fallen since is noticed when its entry comes up. Memory
    grows with the distinct words; counts are Python integers and never overflow.

    Args:
        ties: Choice between pairs that occur equally often: `greater` takes the one with the
            lexicographically greater pieces, whatever the order of words, and `first_seen` the one that comes
            first, words read in their order from the left.
    """

    def __init__(
        self,
        alphabet: Sequence[str],
        words: list[list[int]],
        counts: Sequence[int],
        join: Callable[[str, str], str],
        order: Callable[[str], str],
        ties: Ties = "greater",
    ) -> None:
        self.pieces = list(alphabet)
        self._join, self._key = join, order
        self._entry = self._greater_first if ties == "greater" else self._seen_first
        self._number = {piece: number for number, piece in enumerate(alphabet)}
        self._order = [order(piece) for piece in alphabet]
        self._words = words
        self._word_counts = counts
        self._pair_counts: dict[Pair, int] = collections.defaultdict(int)
        self._words_of: dict[Pair, set[int]] = collections.defaultdict(set)
        for index, word in enumerate(self._words):
            self._add(index, itertools.pairwise(word))
        self._heap = [self._entry(pair) for pair in self._pair_counts]
        heapq.heapify(self._heap)

    def _greater_first(self, pair: Pair) -> tuple[int, Any, Any, Pair]:
        return -self._pair_counts[pair], self._order[pair[0]], self._order[pair[1]], pair

    def _seen_first(self, pair: Pair) -> tuple[int, Any, Any, Pair]:
        """Returns an entry with the first place of the pair: its word, and the characters before it there.

        A place that is lost changes the count, so no entry of an older place is ever taken.
        """
        for index in sorted(self._words_of[pair]):
            word = self._words[index]
            if pair in (places := list(itertools.pairwise(word))):
                before = sum(len(self.pieces[number]) for number in word[: places.index(pair)])
                return -self._pair_counts[pair], index, before, pair
        return 0, 0, 0, pair

    def _add(self, index: int, pairs: Iterable[Pair]) -> None:
        for pair in pairs:
            self._pair_counts[pair] += self._word_counts[index]
            self._words_of[pair].add(index)

    def merge_best(self, min_frequency: int) -> bool:
        """Merges the best pair everywhere; returns False if no pair occurs often enough."""
        while self._heap:
            count, _, _, pair = heapq.heappop(self._heap)
            current = self._pair_counts.get(pair, 0)
            if current == -count and current >= min_frequency:
                self._merge(pair)
                return True
            if current >= min_frequency and current < -count:
                heapq.heappush(self._heap, self._entry(pair))
        return False

    def merge_until(self, pieces: int, min_frequency: int) -> None:
        """Merges until there are enough pieces, or no pair occurs often enough."""
        if min_frequency < 1:
            raise ValueError(f"min_frequency: {min_frequency} is below 1")
        while len(self.pieces) < pieces and self.merge_best(min_frequency):
            pass

    def _merge(self, pair: Pair) -> None:
        merged = self._number_of(self._join(self.pieces[pair[0]], self.pieces[pair[1]]))
        grown: set[Pair] = set()
        for index in self._words_of.pop(pair):
            lost, gained = _replace(self._words[index], pair, merged)
            for old in lost:
                self._pair_counts[old] -= self._word_counts[index]
            self._add(index, gained)
            grown.update(gained)
        self._pair_counts.pop(pair, None)
        for new in grown:
            heapq.heappush(self._heap, self._entry(new))

    def _number_of(self, piece: str) -> int:
        """Returns the number of a piece, which two different merges may lead to."""
        if piece not in self._number:
            self._number[piece] = len(self.pieces)
            self.pieces.append(piece)
            self._order.append(self._key(piece))
        return self._number[piece]


def _replace(word: list[int], pair: Pair, merged: int) -> tuple[list[Pair], list[Pair]]:
    """Writes one number for each occurrence of the pair, from the left, into the word itself."""
    first, second = pair
    lost: list[Pair] = []
    gained: list[Pair] = []
    index = 0
    while index < len(word) - 1:
        if word[index] == first and word[index + 1] == second:
            word[index : index + 2] = [merged]
            if index > 0:
                lost.append((word[index - 1], first))
                gained.append((word[index - 1], merged))
            if index + 1 < len(word):
                lost.append((second, word[index + 1]))
                gained.append((merged, word[index + 1]))
        index += 1
    return lost, gained


def train_byte_pairs(
    word_counts: Mapping[str, int],
    vocabulary_size: int,
    min_frequency: int,
    sentinels: int = 0,
    ties: Ties = "greater",
) -> list[str]:
    """Returns the pieces of a vocabulary: the five special ones, 256 bytes, merges, and the sentinels.

    Words start as their bytes (Radford et al. 2019, section 2.2), and until the vocabulary is full the pair
    of pieces that occurs most often becomes one piece (Sennrich et al. 2016, section 3.2). Of pairs that
    occur equally often, the lexicographically greater pair of byte strings is taken, so the result depends on
    the counts alone. Counts are Python integers and never overflow; memory grows with the distinct words.

    Args:
        word_counts: Number of occurrences of each word, as `count_byte_words` returns them.
        vocabulary_size: Most pieces to return. There are fewer if no pair occurs `min_frequency` times any
            more, which the caller must check.
        min_frequency: Least number of occurrences of a pair that is merged.
        sentinels: Number of sentinels that end the vocabulary; they count in its size.
        ties: Choice between pairs that occur equally often: `greater`, or `first_seen`, the pair that comes
            first in the order of the table.

    Raises:
        ValueError: if `vocabulary_size` leaves no room for the bytes next to the special pieces, or
            `min_frequency` is below 1.

    Example: `o w` occurs 7 times, as `l o` does, but is the greater pair; `low` is merged next.

    >>> train_byte_pairs({"Ġlow": 5, "Ġlower": 2}, 5 + 256 + 3, 2)[261:]
    ['ow', 'low', 'Ġlow']
    """
    special = len(SPECIAL_PIECES) + sentinels
    bytes_and_merges = vocabulary_size - special
    if bytes_and_merges < len(byte_pieces()):
        raise ValueError(
            f"vocabulary_size: {vocabulary_size} leaves no room for 256 bytes and {special} special pieces"
        )
    pieces = merge_byte_pairs(word_counts, bytes_and_merges, min_frequency, ties)
    return [*SPECIAL_PIECES, *pieces, *sentinel_pieces(sentinels)]


def merge_byte_pairs(
    word_counts: Mapping[str, int], pieces: int, min_frequency: int, ties: Ties = "greater"
) -> list[str]:
    """Returns the 256 bytes and, after them, the pieces merged from them in their order."""
    alphabet = byte_pieces()
    number = {piece: index for index, piece in enumerate(alphabet)}
    words = [list(map(number.__getitem__, word)) for word in word_counts]
    merger = Merger(alphabet, words, list(word_counts.values()), str.__add__, _descending, ties)
    merger.merge_until(pieces, min_frequency)
    return merger.pieces


def _descending(piece: str) -> str:
    """Returns a key that sorts byte strings from the greatest to the smallest."""
    return "".join(chr(0xFF - byte) for byte in to_bytes(piece)) + chr(0x100)
