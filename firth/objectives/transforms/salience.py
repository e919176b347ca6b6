"""Names, dates and numbers, found by rule in the pieces of a cased tokenizer."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from firth import features
from firth.objectives.transforms.documents import Row, Text

if TYPE_CHECKING:
    from firth.tokenizers.piece_tokenizer import PieceTokenizer


# Without May, which begins too many sentences that speak of no date; elsewhere it is a capitalised word.
MONTHS = (
    *("January", "February", "March", "April", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_ANY = -1


class SalienceRules:
    """Marks the tokens of salient words.

    A word is salient if all its characters are digits; if it is the name of a month; or if it begins with a
    capital letter, is longer than one, and is not the first word of a sentence.
    """

    def __init__(self, tokenizer: "PieceTokenizer") -> None:
        if tokenizer.lowercase:
            raise ValueError("salient spans are found by their capitals, and the tokenizer lower-cases")
        pieces = [text.decode(errors="replace").strip() for text in tokenizer.piece_texts]
        special = set(tokenizer.special_ids)
        ordinary = [index not in special for index in range(len(pieces))]
        self._digits = np.array([each and piece.isdigit() for each, piece in zip(ordinary, pieces)])
        self._letters = np.array([any(map(str.isalnum, piece)) for piece in pieces])
        self._capitals = np.array([each and piece[:1].isupper() for each, piece in zip(ordinary, pieces)])
        self._sizes = np.array([len(piece) for piece in pieces], np.int32)
        self._months = _stack(_readings(tokenizer, MONTHS))

    def __call__(self, row: Row, text: Text) -> tf.Tensor:
        """Returns bool [raw_length]: the tokens of salient words."""
        begins = text.is_token & ((row[features.WORD_STARTS] > 0) | (text.offsets == 0))
        words = tf.cumsum(tf.cast(begins, tf.int32))
        digits = ~self._any(~tf.gather(self._digits, text.tokens), words)
        long = self._total(tf.gather(self._sizes, text.tokens), words) > 1
        capitals = tf.gather(self._capitals, text.tokens) & ~self._begins_sentence(row, text, begins) & long
        months = self._is_month(text.tokens, begins)
        return text.ordinary & (digits | self._any(begins & (capitals | months), words))

    def _begins_sentence(self, row: Row, text: Text, begins: tf.Tensor) -> tf.Tensor:
        """Returns bool [raw_length]: up to the first word of a sentence that is more than punctuation."""
        sentences = tf.cumsum(
            tf.cast(text.is_token & ((row[features.SENTENCE_STARTS] > 0) | (text.offsets == 0)), tf.int32)
        )
        before = tf.cumsum(tf.cast(begins & tf.gather(self._letters, text.tokens), tf.int32), exclusive=True)
        first = tf.math.unsorted_segment_min(before, sentences, tf.size(before) + 1)
        return before == tf.gather(first, sentences)

    def _is_month(self, tokens: tf.Tensor, begins: tf.Tensor) -> tf.Tensor:
        months, width = self._months, self._months.shape[1]
        after = tf.concat([tokens[1:], tf.fill([width], _ANY)], 0)
        windows = tf.stack([tokens, *(after[i : i + tokens.shape[0]] for i in range(width - 1))], axis=1)
        same = (windows[:, tf.newaxis] == months) | tf.constant(months == _ANY)
        ends = tf.concat([begins[1:], tf.ones([width], tf.bool)], 0)
        word_ends = tf.stack([ends[i : i + tokens.shape[0]] for i in range(width)], axis=1)
        lengths = (months != _ANY).sum(axis=1) - 1
        whole = tf.gather(word_ends, lengths, axis=1)
        return begins & tf.reduce_any(tf.reduce_all(same, axis=2) & whole, axis=1)

    def _total(self, values: tf.Tensor, words: tf.Tensor) -> tf.Tensor:
        return tf.gather(tf.math.unsorted_segment_sum(values, words, tf.size(words) + 1), words)

    def _any(self, flags: tf.Tensor, words: tf.Tensor) -> tf.Tensor:
        return self._total(tf.cast(flags, tf.int32), words) > 0


def _readings(tokenizer: "PieceTokenizer", words: Sequence[str]) -> list[list[int]]:
    """Returns the tokens of words, without and with a space before them, each sequence once."""
    texts = [space + word for word in words for space in ("", " ")]
    return [list(ids) for ids in dict.fromkeys(map(tuple, tokenizer.tokenize(texts).to_list()))]


def _stack(lists: list[list[int]]) -> npt.NDArray[Any]:
    width = max(map(len, lists))
    return np.array([[*each, *[_ANY] * (width - len(each))] for each in lists], np.int32)
