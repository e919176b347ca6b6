"""Byte-level byte-pair encoding in the TensorFlow graph, on tensorflow-text's `SentencepieceTokenizer`.

SentencePiece merges characters of words as byte-pair encoding merges bytes; so each byte becomes a character,
and the kernel is given a model whose scores are the order of the merges. Words
are split here, and each distinct word of a batch is encoded once.
"""

from collections.abc import Collection, Mapping, Sequence

import tensorflow as tf

from firth.tokenizers.graph import split_pattern
from firth.tokenizers.graph.byte_pieces import byte_pieces, to_bytes
from firth.tokenizers.graph.sentencepiece_model import MergingPiece, kernel_of, merging_model
from firth.tokenizers.graph.specials import any_of

# Characters that no byte becomes: between words, before a special piece, for byte 0, for what is unknown.
_BREAK, _SPECIAL, _ZERO, _UNKNOWN = map(chr, range(0x100, 0x104))
# What the words of special pieces begin with.
SPECIAL_WORD = _SPECIAL.encode()


def _characters(data: bytes) -> str:
    return data.decode("latin-1").replace("\x00", _ZERO)


class WordSplitter(tf.Module):
    """Text to words, in which each byte is a character.

    Args:
        alone: Special pieces, each a word by itself.
        after_space: Further special pieces, which include spaces before them.
        all_spaces: True if these include all spaces before them, of any kind; False for one space.
    """

    def __init__(
        self, alone: Collection[str] = (), after_space: Collection[str] = (), all_spaces: bool = False
    ) -> None:
        super().__init__()
        spaces = f"{split_pattern.space()}*" if all_spaces else " ?"
        # One expression, so that the leftmost special piece is found first, whichever it is.
        found = [f"{spaces}{any_of(after_space)}"] * bool(after_space) + [any_of(alone)] * bool(alone)
        self._specials, self._groups = "|".join(found), "".join(f"\\{n + 1}" for n in range(len(found)))

    def __call__(self, text: tf.Tensor) -> tf.RaggedTensor:
        """Returns the words of string [batch]: string [batch, (words)], empty ones among them."""
        replace = tf.strings.regex_replace
        text = tf.strings.unicode_transcode(text, "ISO-8859-1", "UTF-8")
        if self._specials:
            text = replace(text, self._specials, f"{_BREAK}{_SPECIAL}{self._groups}{_BREAK}")
        text = replace(text, split_pattern.spaces_before_word(), f"\\1{_BREAK}\\2")
        pattern = f"{_SPECIAL}[^{_BREAK}]*|{split_pattern.words()}"
        text = replace(text, pattern, f"\\0{_BREAK}")
        return tf.strings.split(text, _BREAK)


class BytePairKernel(tf.Module):
    """Text to ids, in a graph that needs nothing but its own constants.

    Args:
        vocabulary: Pieces as `byte_pieces.to_piece` writes them, by id.
        alone: Special pieces, each a word by itself.
        after_space: Further special pieces, which include spaces before them.
        all_spaces: True if these include all spaces before them, of any kind; False for one space.
        ranks: Rank of each piece that is made by merging: of two, the lower is merged first, and no other
            piece comes about. None for the order of the ids.

    Raises:
        ValueError: if a piece stands for no bytes, or a byte has no piece.
    """

    def __init__(
        self,
        vocabulary: Sequence[str],
        alone: Collection[str],
        after_space: Collection[str] = (),
        all_spaces: bool = False,
        ranks: Mapping[str, int] | None = None,
    ) -> None:
        super().__init__()
        missing = sorted(set(byte_pieces()).difference(vocabulary))
        if missing:
            raise ValueError(f"the vocabulary has no {missing[0]!r}; it needs a piece for each byte")
        special = {*alone, *after_space}
        every = {piece: index for index, piece in enumerate(vocabulary)}
        ranks = every if ranks is None else {**dict.fromkeys(byte_pieces(), 0), **ranks}
        pieces = (
            MergingPiece(_SPECIAL + piece, 0, is_special=True)
            if piece in special
            else MergingPiece(_characters(to_bytes(piece)), ranks[piece])
            if piece in ranks
            # No word holds a break.
            else MergingPiece(f"{_BREAK}{index}", 0)
            for piece, index in every.items()
        )
        self._splitter = WordSplitter(alone, after_space, all_spaces)
        self._merger = kernel_of(merging_model(pieces, _UNKNOWN))

    def __call__(self, text: tf.Tensor) -> tf.RaggedTensor:
        """Tokenizes string [batch] to int32 [batch, (pieces)], with int64 row splits."""
        words = self._splitter(text)
        distinct, index = tf.unique(words.flat_values)
        ids = self._merger.tokenize(tf.strings.regex_replace(distinct, r"\x00", _ZERO))
        spelled = tf.gather(ids, index)
        splits = tf.gather(spelled.row_splits, words.row_splits)
        return tf.RaggedTensor.from_row_splits(spelled.flat_values, splits, validate=False)
