"""Salient span masking (Guu et al. 2020, "REALM", section 3.4; Roberts et al. 2020)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from firth import features
from firth.objectives.base import SentinelObjective, Tokenizer
from firth.objectives.rates.corruption_rates import salient_spans_rates
from firth.objectives.transforms.documents import Row, Text, count_by_document
from firth.objectives.transforms.spans import Noise, choose_tokens, random_spans
from firth.recipes.objectives.denoising import SalientSpans

if TYPE_CHECKING:
    from firth.tokenizers.piece_tokenizer import PieceTokenizer
# Without May, which begins too many sentences that speak of no date; elsewhere it is a capitalised word.
MONTHS = (
    *("January", "February", "March", "April", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_ANY = -1


class SalientSpansObjective(SentinelObjective):
    """One name, date or number of each document gives way to a sentinel.

    Salient words are found by rule, see `SalienceRules`; neighbours make one span, and each span of a
    document is as likely to be chosen. A document without any is corrupted as `SpanCorruptionObjective` does
    with the recipe's `noise_density`, or has no weight in the loss where `fallback` is off.

    All else is as in `SpanCorruptionObjective`, the arguments included.

    Args:
        config: Objective of the recipe.
        sequences: Rows of the recipe.
        tokenizer: Cased tokenizer of the rows; gives the special ids and the sentinels.

    Raises:
        ValueError: if the tokenizer has too few sentinels, or lower-cases.

    Example: `Ada Lovelace`, `Byron` and `10 December 1815` could be chosen.

    >>> from firth.recipes.objectives.denoising import SalientSpans
    >>> from firth.recipes.tokenizers.tokenizer import Sequences
    >>> from firth.tokenizers import WordPieceTokenizer
    >>> words = "The poet Byron was the father of Ada Lovelace , born on 10 December 1815 .".split()
    >>> sentinels = ["<extra_id_1>", "<extra_id_0>"]
    >>> pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words, *sentinels]
    >>> tokenizer = WordPieceTokenizer(pieces, lowercase=False)
    >>> objective = SalientSpansObjective(SalientSpans(), Sequences(length=17, max_documents=1), tokenizer)
    >>> row = {
    ...     "tokens": tokenizer.tokenize(" ".join(words)),
    ...     "word_starts": tf.ones([16], tf.int32),
    ...     "sentence_starts": tf.one_hot(0, 16, dtype=tf.int32),
    ...     "chunk_lengths": tf.constant([16]),
    ... }
    >>> made = objective(row, None, seed=[1, 2])
    >>> for name in ("token_ids", "label_ids"):
    ...     print(" ".join(map(tokenizer.id_to_token, made[name].numpy())).replace(" [PAD]", ""))
    The poet <extra_id_0> was the father of Ada Lovelace , born on 10 December 1815 . [SEP]
    <extra_id_0> Byron [SEP]
    """

    rates = staticmethod(salient_spans_rates)

    _config: SalientSpans

    def _prepare(self, tokenizer: Tokenizer) -> None:
        super()._prepare(tokenizer)
        self._is_salient = SalienceRules(tokenizer)

    def choose_noise(self, row: Row, text: Text, seed: tf.Tensor) -> Noise:
        """Returns a salient span of each document, or random spans of a document without one.

        Args:
            row: Tensors of one row, as `features.row_specs`.
            text: Tokens of the row, as `read_text` returns them.
            seed: Seed, int32 or int64 [2].
        """
        seeds = tf.random.split(seed, num=3, alg="philox")
        salient = self._is_salient(row, text)
        noise = choose_salient_span(text, salient, self._config.max_span, seeds[0])
        if not self._config.fallback:
            return noise
        has_none = tf.concat([count_by_document(salient, text) == 0, [False]], 0)
        counts = self.noise_counts(text)
        random = random_spans(text, counts, self.span_counts(text, counts), True, seeds[1:])
        falls_back = tf.gather(has_none, text.documents)
        return Noise(*(tf.where(falls_back, *pair) for pair in zip(random, noise)))


def choose_salient_span(text: Text, salient: tf.Tensor, max_span: int, seed: tf.Tensor) -> Noise:
    """Returns one run of salient tokens of each document, cut after `max_span` tokens.

    Args:
        salient: bool [raw_length], True on salient tokens.
        seed: Seed, int32 or int64 [2].
    """
    before = tf.concat([[False], salient[:-1]], 0) & (text.offsets > 0)
    is_start = salient & ~before
    one_each = tf.ones_like(text.lengths)
    chosen = choose_tokens(text, is_start, one_each, seed)
    runs = tf.cumsum(tf.cast(is_start, tf.int32))
    size = tf.size(runs) + 1
    is_chosen = tf.math.unsorted_segment_sum(tf.cast(chosen, tf.int32), runs, size) > 0
    places = tf.range(tf.size(runs))
    first = tf.math.unsorted_segment_min(tf.where(is_start, places, tf.size(runs)), runs, size)
    near = places - tf.gather(first, runs) < max_span
    return Noise(salient & tf.gather(is_chosen, runs) & near, chosen)


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
        """Returns bool [raw_length]: up to the first word of a sentence that is not punctuation."""
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
