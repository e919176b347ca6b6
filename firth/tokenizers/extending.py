"""Words that become pieces of a tokenizer that is trained already, after its last piece."""

from collections.abc import Mapping, Sequence
from typing import Any

from firth.tokenizers.piece_tokenizer import PieceTokenizer


def add_words(tokenizer: PieceTokenizer, words: Sequence[str]) -> Any:
    """Returns a tokenizer of the same kind with pieces for some words; ids of other pieces stay.

    Example:

    >>> from firth.tokenizers import WordPieceTokenizer
    >>> pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "re", "##m", "##d", "remd"]
    >>> add_words(WordPieceTokenizer(pieces), ["remdm"]).tokenize("remdm remd").numpy().tolist()
    [9, 8]
    """
    pieces = tokenizer.get_vocabulary()
    known = set(pieces)
    for place, word in enumerate(words):
        if word in known or word in words[:place]:
            raise ValueError(f"{word!r} is a piece already")
    made = type(tokenizer).restored([*pieces, *words], tokenizer.extra_files, tokenizer.settings)
    for place, (word, ids) in enumerate(zip(words, made.tokenize(list(words)).to_list(), strict=True)):
        if ids != [len(pieces) + place]:
            seen = " ".join(made.id_to_token(each) for each in ids)
            raise ValueError(f"{word!r} cannot be one piece: the tokenizer reads it as {seen!r}")
    return made


def words_to_add(
    tokenizer: PieceTokenizer, word_counts: Mapping[str, int], count: int, min_frequency: int = 2
) -> list[str]:
    """Returns the words for whose pieces the fewest tokens are needed, if each becomes a piece.

    A word that occurs often and falls into many pieces comes first; one that is unknown counts as two pieces.

    Example:

    >>> from firth.tokenizers import WordPieceTokenizer
    >>> pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "##b", "##c"]
    >>> counts = {"a": 9, "ab": 3, "abc": 2, "ac": 2, "x": 5, "acc": 1}
    >>> words_to_add(WordPieceTokenizer(pieces), counts, 3)
    ['x', 'abc', 'ab']
    """
    words = sorted(word for word, seen in word_counts.items() if seen >= min_frequency)
    if not words or not count:
        return []
    unknown = [tokenizer.unk_id]
    split = tokenizer.tokenize(words).to_list()
    saved = {
        word: word_counts[word] * (1 if ids == unknown else len(ids) - 1)
        for word, ids in zip(words, split, strict=True)
    }
    # Sorting keeps the alphabetical order among equals.
    chosen = sorted((word for word in words if saved[word] > 0), key=lambda word: -saved[word])
    return chosen[:count]
