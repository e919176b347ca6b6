"""Training a WordPiece vocabulary on a table of word counts."""

import collections
import heapq
import itertools
from collections.abc import Iterable, Mapping

from firth.tokenizers import characters
from firth.tokenizers.characters import Kind
from firth.tokenizers.vocabulary import SPECIAL_PIECES, SUFFIX_MARK, sentinel_pieces

ALPHABET_LIMIT = 1000

Pair = tuple[int, int]


def train_wordpiece(
    word_counts: Mapping[str, int], vocabulary_size: int, min_frequency: int, sentinels: int = 0
) -> list[str]:
    """Returns the pieces of a vocabulary, the five special ones first and the sentinels last.

    This is merging by count, as byte-pair encoding does it (Sennrich et al. 2016, section 3.2), written with
    WordPiece's `##`; the likelihood criterion of the first WordPiece (Schuster and Nakajima 2012) is not
    used. Every word starts as its characters, all but the first marked by `##`. Then, until the vocabulary is
    full, the adjacent pair of pieces that occurs most often over all words becomes one piece. Of pairs that
    occur equally often, the lexicographically greater one is taken, so the result depends on the counts
    alone: not on the mapping's order, the number of workers, or the hash seed. Counts are Python integers
    and never overflow.

    The alphabet is the 1,000 most frequent characters (of equally frequent ones, the lower code points) that
    occur at least `min_frequency` times, each both as the start and as the inside of a word, so that every
    word of these characters can be encoded. Words with other characters take no part in the merging, nor
    does punctuation.

    Args:
        word_counts: Words, as `count_words` makes them, and how often each occurs.
        vocabulary_size: Pieces asked for. Fewer are returned where no pair occurs `min_frequency` times any
            more, which is for the caller to notice.
        min_frequency: Of a character and of a pair.
        sentinels: How many sentinels end the vocabulary; they count in its size.

    Raises:
        ValueError: if `vocabulary_size` leaves no room beside the special pieces, or `min_frequency` is
            below 1.

    Example: `##u ##g` occurs 20 times and is merged first, then `h ##ug` with 15.

    >>> pieces = train_wordpiece({"hug": 10, "hugs": 5, "pug": 5}, 17, 2)
    >>> pieces[5:15]
    ['g', 'h', 'p', 's', 'u', '##g', '##h', '##p', '##s', '##u']
    >>> pieces[15:]
    ['##ug', 'hug']
    """
    special = len(SPECIAL_PIECES) + sentinels
    room = vocabulary_size - special
    if room < 1:
        raise ValueError(f"vocabulary_size: {vocabulary_size} leaves no room beside {special} special pieces")
    if min_frequency < 1:
        raise ValueError(f"min_frequency: {min_frequency} is below 1")
    alphabet = _alphabet(word_counts, room, min_frequency)
    pieces = [piece for inside in (False, True) for piece in _pieces(alphabet, inside)]
    known = {character for character in alphabet if not _stands_alone(character)}
    words = {word: count for word, count in word_counts.items() if len(word) > 1 and known.issuperset(word)}
    merger = _Merger(words, pieces)
    while len(merger.pieces) < room and merger.merge_best(min_frequency):
        pass
    return [*SPECIAL_PIECES, *merger.pieces, *sentinel_pieces(sentinels)]


def _stands_alone(character: str) -> bool:
    return bool(characters.kinds().item(ord(character)) & (Kind.PUNCTUATION | Kind.IDEOGRAPHS))


def _pieces(alphabet: Iterable[str], inside: bool) -> list[str]:
    """Returns the sorted one-character pieces: those that start a word, or those inside of one."""
    if inside:
        return sorted(SUFFIX_MARK + character for character in alphabet if not _stands_alone(character))
    return sorted(alphabet)


def _alphabet(word_counts: Mapping[str, int], room: int, min_frequency: int) -> list[str]:
    """Returns the most frequent characters whose pieces fit into `room`."""
    counts: dict[str, int] = collections.defaultdict(int)
    for word, count in word_counts.items():
        for character in word:
            counts[character] += count
    frequent = sorted((-count, character) for character, count in counts.items() if count >= min_frequency)
    alphabet = []
    for _, character in frequent[:ALPHABET_LIMIT]:
        room -= 1 if _stands_alone(character) else 2
        if room >= 0:
            alphabet.append(character)
    return alphabet


def _descending(piece: str) -> tuple[int, ...]:
    """Returns a key that sorts pieces from the greatest to the smallest, a prefix behind what it begins."""
    return (*(-ord(character) for character in piece), 1)


class _Merger:
    """Words as lists of piece numbers, the counts of all adjacent pairs, and a heap of these.

    Heap entries are never changed: a count that has fallen since is noticed when its entry comes up.
    """

    def __init__(self, words: Mapping[str, int], alphabet: list[str]):
        self.pieces = list(alphabet)
        self._number = {piece: number for number, piece in enumerate(alphabet)}
        self._order = [_descending(piece) for piece in alphabet]
        self._words = [self._spell(word) for word in words]
        self._word_counts = list(words.values())
        self._pair_counts: dict[Pair, int] = collections.defaultdict(int)
        self._words_of: dict[Pair, set[int]] = collections.defaultdict(set)
        for index, word in enumerate(self._words):
            self._add(index, itertools.pairwise(word))
        self._heap = [self._entry(pair) for pair in self._pair_counts]
        heapq.heapify(self._heap)

    def _spell(self, word: str) -> list[int]:
        return [self._number[word[0]], *(self._number[SUFFIX_MARK + character] for character in word[1:])]

    def _entry(self, pair: Pair):
        return -self._pair_counts[pair], self._order[pair[0]], self._order[pair[1]], pair

    def _add(self, index: int, pairs: Iterable[Pair]) -> None:
        for pair in pairs:
            self._pair_counts[pair] += self._word_counts[index]
            self._words_of[pair].add(index)

    def merge_best(self, min_frequency: int) -> bool:
        """Merges the best pair everywhere; returns False where none occurs `min_frequency` times."""
        while self._heap:
            count, _, _, pair = heapq.heappop(self._heap)
            current = self._pair_counts.get(pair, 0)
            if current == -count and current >= min_frequency:
                self._merge(pair)
                return True
            if current >= min_frequency and current < -count:
                heapq.heappush(self._heap, self._entry(pair))
        return False

    def _merge(self, pair: Pair) -> None:
        merged = self._number_of(self.pieces[pair[0]] + self.pieces[pair[1]].removeprefix(SUFFIX_MARK))
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
            self._order.append(_descending(piece))
        return self._number[piece]


def _replace(word: list[int], pair: Pair, merged: int) -> tuple[list[Pair], list[Pair]]:
    """Writes one number for each occurrence of the pair, from the left, into the word itself.

    Returns:
        The pairs that the word lost, other than `pair`, and those that it gained, both as often as it did.
    """
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
