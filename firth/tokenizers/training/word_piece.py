"""Training a WordPiece vocabulary on a table of word counts."""

import collections
from collections.abc import Iterable, Mapping

from firth.tokenizers.graph import characters
from firth.tokenizers.graph.characters import Kind
from firth.tokenizers.graph.special_pieces import SPECIAL_PIECES
from firth.tokenizers.graph.vocabulary import SUFFIX_MARK, sentinel_pieces
from firth.tokenizers.training.byte_pair import Merger

ALPHABET_LIMIT = 1000
# The last code point. No word holds U+0000, so no other character of a key has this value.
_LAST = 0x10FFFF


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
        word_counts: Number of occurrences of each word, as `count_words` returns them.
        vocabulary_size: Most pieces to return. There are fewer if no pair occurs `min_frequency` times any
            more, which the caller must check.
        min_frequency: Least number of occurrences of a character and of a pair.
        sentinels: Number of sentinels that end the vocabulary; they count in its size.

    Raises:
        ValueError: if `vocabulary_size` leaves no room next to the special pieces, or `min_frequency` is
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
        raise ValueError(f"vocabulary_size: {vocabulary_size} leaves no room after {special} special pieces")
    alphabet = _alphabet(word_counts, room, min_frequency)
    pieces = [piece for inside in (False, True) for piece in _pieces(alphabet, inside)]
    known = {character for character in alphabet if not _stands_alone(character)}
    words = {word: count for word, count in word_counts.items() if len(word) > 1 and known.issuperset(word)}
    number = {piece: index for index, piece in enumerate(pieces)}
    spelled = [[number[word[0]], *(number[SUFFIX_MARK + each] for each in word[1:])] for word in words]
    merger = Merger(pieces, spelled, list(words.values()), _join, _descending)
    merger.merge_until(room, min_frequency)
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


def _join(first: str, second: str) -> str:
    return first + second.removeprefix(SUFFIX_MARK)


def _descending(piece: str) -> str:
    """Returns a key that sorts pieces from the greatest to the smallest, a prefix after what it begins."""
    return "".join(chr(_LAST - ord(character)) for character in piece) + chr(_LAST)
