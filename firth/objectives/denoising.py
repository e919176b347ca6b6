"""Denoising (Lewis et al. 2019, "BART", section 2.2)."""

from typing import NamedTuple

import numpy as np
import tensorflow as tf

from firth import features
from firth.objectives.base import Features, ObjectiveFunction, Tokenizer
from firth.objectives.rates.corruption_rates import denoising_rates
from firth.objectives.transforms.documents import (
    Parts,
    Row,
    Text,
    count_by_document,
    encoder_decoder_features,
    ordinary_table,
    read_text,
    sum_by_document,
    write_parts,
)
from firth.objectives.transforms.infilling import Infilling, choose_infilling, poisson_cdf
from firth.objectives.transforms.spans import choose_tokens


class TextCorruption(NamedTuple):
    """The corruption of the tokens of a row, in their new order.

    Attributes:
        is_deleted: bool [raw_length], True on tokens that are left out.
        is_masked: bool [raw_length], True on tokens that give way to a `[MASK]` each.
        infilling: Spans that give way to one `[MASK]` each.
    """

    is_deleted: tf.Tensor
    is_masked: tf.Tensor
    infilling: Infilling


class DenoisingObjective(ObjectiveFunction):
    """Corrupts documents in several ways, and lets a decoder write the originals.

    In this order: the sentences of a document are permuted; it is turned to begin at a random token; tokens
    are left out; tokens give way to a `[MASK]` each; spans give way to one `[MASK]` each. Of n tokens exactly
    `round(n x rate)` are left out, masked or infilled, fewer only where none is left. Lengths of spans are
    Poisson distributed; the last one is cut so that the share is met, and an empty one puts a `[MASK]` in
    where the document does not become longer by that (see `choose_infilling`).

    The inputs are `[CLS] ... [SEP]`; the decoder reads `[SEP] [CLS] x1 ... xn` and its labels are
    `[CLS] x1 ... xn [SEP]`. Special pieces of the text are moved with it, and never left out or masked.

    Args:
        config: Objective of the recipe.
        sequences: Rows of the recipe.
        tokenizer: Tokenizer of the rows; gives the special ids.

    Example: three sentences, permuted. Of ten tokens three are infilled.

    >>> from firth.recipes import Denoising, Sequences
    >>> from firth.tokenizers import WordPieceTokenizer
    >>> words = "A B C . D E . F G .".split()
    >>> pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *dict.fromkeys(words)]
    >>> tokenizer = WordPieceTokenizer(pieces, lowercase=False)
    >>> objective = DenoisingObjective(Denoising(), Sequences(length=12, max_documents=1), tokenizer)
    >>> row = {
    ...     "tokens": tokenizer.tokenize(" ".join(words)),
    ...     "sentence_starts": tf.constant([1, 0, 0, 0, 1, 0, 0, 1, 0, 0]),
    ...     "chunk_lengths": tf.constant([10]),
    ... }
    >>> made = objective(row, None, seed=[1, 2])
    >>> for name in ("token_ids", "decoder_token_ids", "label_ids"):
    ...     print(" ".join(map(tokenizer.id_to_token, made[name].numpy())).replace(" [PAD]", ""))
    [CLS] D E . F G . [MASK] . [SEP]
    [SEP] [CLS] A B C . D E . F G .
    [CLS] A B C . D E . F G . [SEP]
    """

    rates = staticmethod(denoising_rates)

    def _prepare(self, tokenizer: Tokenizer) -> None:
        self._ids = (tokenizer.cls_id, tokenizer.sep_id, tokenizer.mask_id)
        self._ordinary = ordinary_table(tokenizer)
        self._cdf = poisson_cdf(self._config.infill_mean)

    def __call__(self, row: Row, negative: Row, seed: tf.Tensor) -> Features:
        """Returns the features of one example.

        Args:
            row: Tensors as `features.row_specs`.
            negative: Not used.
            seed: int32 or int64 [2].
        """
        seeds = tf.random.split(seed, num=7, alg="philox")
        text = read_text(row, self._ordinary)
        moved = self._move(row, text, seeds[:3])
        inputs = corrupted_inputs(moved, self._corrupt(moved, seeds[3:]), *self._ids, self._sequences.length)
        targets = whole_documents(text, *self._ids[:2], self._sequences.length)
        weights = tf.cast(text.lengths > 0, tf.float32)
        return encoder_decoder_features(inputs, targets, weights, start_id=self._ids[1])

    def _move(self, row: Row, text: Text, seeds: tf.Tensor) -> Text:
        """Returns the text with sentences permuted and documents rotated."""
        if self._config.permute_sentences:
            text = _reorder(text, permute_sentences(row, text, seeds[0]))
        if self._config.rotate:
            text = _reorder(text, rotate_documents(text, self._config.rotate, seeds[1:]))
        return text

    def _corrupt(self, text: Text, seeds: tf.Tensor) -> TextCorruption:
        config, ordinary = self._config, count_by_document(text.ordinary, text)
        left, nothing = text.ordinary, tf.zeros_like(text.ordinary)
        is_deleted = is_masked = nothing
        if config.delete_rate:
            is_deleted = choose_tokens(text, left, self._share(config.delete_rate, ordinary), seeds[0])
            left &= ~is_deleted
        if config.mask_rate:
            is_masked = choose_tokens(text, left, self._share(config.mask_rate, ordinary), seeds[1])
            left &= ~is_masked
        hidden = tf.minimum(self._share(config.infill_rate, ordinary), count_by_document(left, text))
        infilling = choose_infilling(text._replace(ordinary=left), hidden, self._cdf, seeds[2:])
        return TextCorruption(is_deleted, is_masked, infilling)

    def _share(self, rate: float, counts: tf.Tensor) -> tf.Tensor:
        table = np.array([round(rate * count) for count in range(self.raw_length + 1)], np.int32)
        return tf.gather(table, counts)


def corrupted_inputs(
    text: Text, corruption: TextCorruption, cls_id: int, sep_id: int, mask_id: int, length: int
) -> Parts:
    """Returns `[CLS] ... [SEP]` of each document, with corrupted tokens left out or masked."""
    hidden, start, inserted, appended = corruption.infilling
    is_shown = text.is_token & ~corruption.is_deleted & ~hidden
    emitted = tf.cast(is_shown | start, tf.int32) + inserted
    before = tf.cumsum(emitted, exclusive=True)
    bodies = sum_by_document(emitted, text.documents, tf.size(text.lengths)) + appended
    exists = text.lengths > 0
    lengths = tf.where(exists, bodies + 2, 0)
    starts = tf.cumsum(lengths, exclusive=True)
    # Appended masks of the documents before are not among `before`, nor are `[CLS]` and `[SEP]`.
    shifts = tf.cumsum(appended + 2 * tf.cast(exists, tf.int32), exclusive=True) + 1
    places = before + inserted + tf.gather(tf.concat([shifts, [0]], 0), text.documents)
    pieces = [
        (is_shown & ~corruption.is_masked, places, text.tokens),
        (exists, starts, tf.fill(tf.shape(starts), cls_id)),
        (exists, starts + lengths - 1, tf.fill(tf.shape(starts), sep_id)),
    ]
    # Whatever is not written within a document is a mask.
    parts = write_parts(length, lengths, pieces, fill=mask_id)
    return parts._replace(ids=tf.where(tf.range(length) < tf.reduce_sum(lengths), parts.ids, 0))


def whole_documents(text: Text, cls_id: int, sep_id: int, length: int) -> Parts:
    """Returns `[CLS] x1 ... xn [SEP]` of each document."""
    exists = text.lengths > 0
    lengths = tf.where(exists, text.lengths + 2, 0)
    starts = tf.cumsum(lengths, exclusive=True)
    places = tf.gather(tf.concat([starts, [0]], 0), text.documents) + text.offsets + 1
    pieces = [
        (text.is_token, places, text.tokens),
        (exists, starts, tf.fill(tf.shape(starts), cls_id)),
        (exists, starts + lengths - 1, tf.fill(tf.shape(starts), sep_id)),
    ]
    return write_parts(length, lengths, pieces)


def permute_sentences(row: Row, text: Text, seed: tf.Tensor) -> tf.Tensor:
    """Returns the order of a row's tokens with the sentences of each document in a random order.

    A sentence ends before the next one begins, so that a sentence cut in two by chunking counts as one as
    well.

    Args:
        seed: Seed, int32 or int64 [2].

    Returns:
        Index of the token that is moved to each place, int32 [raw_length].
    """
    begins = (row[features.SENTENCE_STARTS] > 0) | (text.offsets == 0)
    sentences = tf.cumsum(tf.cast(begins, tf.int32)) - 1
    size = tf.size(sentences)
    draws = tf.random.stateless_uniform(
        [size], seed, minval=0, maxval=2**31 - 1, dtype=tf.int32, alg="philox"
    )
    keys = tf.cast(text.documents, tf.int64) * 2**31 + tf.cast(tf.gather(draws, sentences), tf.int64)
    return tf.argsort(keys, stable=True)


def rotate_documents(text: Text, rate: float, seeds: tf.Tensor) -> tf.Tensor:
    """Returns the order of a row's tokens with some documents rotated to begin at a random token.

    Args:
        seeds: Seeds, int32 or int64 [2, 2].

    Returns:
        Index of the token that is moved to each place, int32 [raw_length].
    """
    shape = tf.shape(text.lengths)
    turned = tf.random.stateless_uniform(shape, seeds[0], alg="philox") < rate
    draws = tf.random.stateless_uniform(shape, seeds[1], alg="philox")
    begins = tf.minimum(tf.cast(draws * tf.cast(text.lengths, tf.float32), tf.int32), text.lengths - 1)
    begins = tf.concat([tf.where(turned & (text.lengths > 0), begins, 0), [0]], 0)
    lengths = tf.maximum(tf.gather(tf.concat([text.lengths, [1]], 0), text.documents), 1)
    firsts = tf.range(tf.size(text.tokens)) - text.offsets
    return firsts + (text.offsets + tf.gather(begins, text.documents)) % lengths


def _reorder(text: Text, order: tf.Tensor) -> Text:
    return text._replace(tokens=tf.gather(text.tokens, order), ordinary=tf.gather(text.ordinary, order))
