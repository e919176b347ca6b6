"""Training byte-level byte-pair encoding on a table of word counts."""

from collections.abc import Mapping

from firth.tokenizers.graph.byte_pieces import byte_pieces, to_bytes
from firth.tokenizers.graph.special_pieces import SPECIAL_PIECES
from firth.tokenizers.graph.vocabulary import sentinel_pieces
from firth.tokenizers.training.merging import Merger, Ties


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
