"""The documents of a row, and inputs and targets with a part for each of them, as Features."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from firth import features

if TYPE_CHECKING:
    from firth.tokenizers.piece_tokenizer import PieceTokenizer
# Tensors of one row, as `features.row_specs`.
Row: TypeAlias = Mapping[str, tf.Tensor]


class Text(NamedTuple):
    """The raw tokens of a row.

    Attributes:
        tokens: Ids, int32 [raw_length].
        documents: Number of each token's document, int32 [raw_length], from 0; `max_documents` on padding.
        offsets: Place of each token in its document, int32 [raw_length].
        lengths: Tokens of each document, int32 [max_documents], zeros after.
        ordinary: bool [raw_length], False on padding and on special pieces, such as `[UNK]` or a `[MASK]`
            that somebody typed: they are never corrupted.
    """

    tokens: tf.Tensor
    documents: tf.Tensor
    offsets: tf.Tensor
    lengths: tf.Tensor
    ordinary: tf.Tensor

    @property
    def is_token(self) -> tf.Tensor:
        """Bool [raw_length], False on padding."""
        return self.documents < tf.size(self.lengths)


class Parts(NamedTuple):
    """A sequence with a part for each document, padding after.

    Attributes:
        ids: Ids of all parts, int32 [length].
        lengths: Lengths of the parts, int32 [max_documents].
    """

    ids: tf.Tensor
    lengths: tf.Tensor


def ordinary_table(tokenizer: "PieceTokenizer") -> npt.NDArray[Any]:
    """Returns a bool for each id of the vocabulary, False for special pieces."""
    table = np.ones(tokenizer.vocabulary_size(), bool)
    table[list(tokenizer.special_ids)] = False
    return table


def read_text(row: Row, ordinary: npt.NDArray[Any]) -> Text:
    """Returns the tokens of a row with the documents that they belong to."""
    tokens, lengths = row[features.RAW_TOKENS], row[features.CHUNK_LENGTHS]
    documents, offsets = find_parts(lengths, tf.size(tokens))
    return Text(
        tokens,
        documents,
        offsets,
        lengths,
        tf.gather(tf.constant(ordinary), tokens) & (documents < tf.size(lengths)),
    )


def find_parts(lengths: tf.Tensor, size: tf.Tensor | int) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns the number of the part of each place of a sequence, and the place within the part.

    Args:
        lengths: Lengths of the parts, int32 [parts].

    Returns:
        int32 [size] each; after the parts their number, and zeros.

    Example:

    >>> [each.numpy().tolist() for each in find_parts([3, 1, 0], 5)]
    [[0, 0, 0, 1, 3], [0, 1, 2, 0, 0]]
    """
    lengths = tf.convert_to_tensor(lengths)
    ends, places = tf.cumsum(lengths), tf.range(size)
    parts = tf.searchsorted(ends, places, side="right")
    inside = parts < tf.size(lengths)
    parts_inside = tf.where(inside, parts, 0)
    offsets = places - tf.gather(ends - lengths, parts_inside)
    return tf.where(inside, parts, tf.size(lengths)), tf.where(inside, offsets, 0)


def of_documents(values: tf.Tensor, documents: tf.Tensor) -> tf.Tensor:
    """Returns the value of each token's document, 0 outside of all.

    Args:
        documents: int32 [n], the document of each token, the number of documents outside of all.
    """
    return tf.gather(tf.pad(values, [[0, 1]]), documents)


def sum_by_document(values: tf.Tensor, documents: tf.Tensor, count: tf.Tensor) -> tf.Tensor:
    """Returns the sum of each document, int32 [count].

    Args:
        values: int32 [n], a value of each token.
        documents: int32 [n], the document of each token, `count` outside of all.
    """
    return tf.math.unsorted_segment_sum(values, documents, count + 1)[:count]


def count_by_document(flags: tf.Tensor, text: Text) -> tf.Tensor:
    """Returns the number of flags of each document that are set, int32 [max_documents].

    Args:
        flags: Flags of the tokens, bool [raw_length].
    """
    return sum_by_document(tf.cast(flags, tf.int32), text.documents, tf.size(text.lengths))


def within_document(counted: tf.Tensor, text: Text) -> tf.Tensor:
    """Returns the number of flags of its own document that are set before each token, int32 [raw_length].

    Args:
        counted: Flags of the tokens, bool [raw_length].

    Returns:
        int32 [raw_length].
    """
    before = tf.cumsum(tf.cast(counted, tf.int32), exclusive=True)
    starts = tf.cumsum(text.lengths, exclusive=True)
    firsts = of_documents(starts, text.documents)
    return before - tf.gather(before, tf.minimum(firsts, tf.size(before) - 1))


def write_parts(
    size: int, lengths: tf.Tensor, pieces: Sequence[tuple[tf.Tensor, tf.Tensor, tf.Tensor]], fill: int = 0
) -> Parts:
    """Returns the sequence that holds ids at given places; ids that do not fit are cut off.

    Args:
        lengths: Lengths of the parts, int32 [parts].
        pieces: Triples of bool [n], True for ids to write, int32 [n], their places, and int32 [n], the ids.

    Example:

    >>> write_parts(4, [2], [([True, False], [1, 0], [7, 8])]).ids.numpy().tolist()
    [0, 7, 0, 0]
    """
    flags, places, ids = (tf.concat(each, 0) for each in zip(*pieces))
    # One more place takes the ids that are not written or do not fit.
    places = tf.where(flags, tf.minimum(places, size), size)
    written = tf.tensor_scatter_nd_update(tf.fill([size + 1], fill), places[:, tf.newaxis], ids)
    return Parts(written[:size], lengths)


def next_tokens(token_ids: tf.Tensor, document_ids: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns the token after each token, int32 [length], and whether there is one, bool [length].

    Args:
        token_ids: Ids of the row, int32 [length].
        document_ids: int32 [length], 0 on padding. There is no token after a document's last one.

    Example:

    >>> ids, exists = next_tokens([5, 6, 7, 0], [1, 1, 2, 0])
    >>> (ids * tf.cast(exists, tf.int32)).numpy()
    array([6, 0, 0, 0], dtype=int32)
    """
    return _neighbours(token_ids, document_ids, lambda values: tf.concat([values[1:], [0]], 0))


def previous_tokens(token_ids: tf.Tensor, document_ids: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns the token before each token, int32 [length], and whether there is one, bool [length].

    Args:
        token_ids: Ids of the row, int32 [length].
        document_ids: int32 [length], 0 on padding. There is no token before a document's first one.
    """
    return _neighbours(token_ids, document_ids, lambda values: tf.concat([[0], values[:-1]], 0))


def encoder_decoder_features(
    inputs: Parts, targets: Parts, weights: tf.Tensor, start_id: int
) -> dict[str, tf.Tensor]:
    """Returns Features of an encoder that reads the inputs and a decoder that writes the targets.

    In each document the decoder reads `start_id` and then the targets but for the last one.

    Args:
        weights: Weights of each document's targets in the loss, float32 [max_documents].
    """
    documents, offsets = find_parts(inputs.lengths, tf.size(inputs.ids))
    decoder_documents, decoder_offsets = find_parts(targets.lengths, tf.size(targets.ids))
    exists = decoder_documents < tf.size(targets.lengths)
    read = tf.where(decoder_offsets > 0, tf.roll(targets.ids, 1, 0), start_id)
    label_weights = of_documents(weights, decoder_documents)
    return {
        features.TOKEN_IDS: inputs.ids,
        features.POSITION_IDS: offsets,
        features.DOCUMENT_IDS: _document_ids(documents, inputs.lengths),
        features.DECODER_TOKEN_IDS: tf.where(exists, read, 0),
        features.DECODER_POSITION_IDS: decoder_offsets,
        features.DECODER_DOCUMENT_IDS: _document_ids(decoder_documents, targets.lengths),
        features.LABEL_IDS: tf.where(label_weights > 0, targets.ids, 0),
        features.LABEL_WEIGHTS: label_weights,
    }


def decoder_features(inputs: Parts, targets: Parts, weights: tf.Tensor, length: int) -> dict[str, tf.Tensor]:
    """Returns Features of one stack that reads each document's inputs and continues with its targets.

    The inputs see one another; the targets see the tokens before them. The last input predicts the first
    target; the last target is predicted, and not read.

    Args:
        weights: Weights of each document's targets in the loss, float32 [max_documents].
    """
    lengths = tf.where(inputs.lengths > 0, inputs.lengths + targets.lengths - 1, 0)
    documents, offsets = find_parts(lengths, length)
    exists = documents < tf.size(lengths)
    after = offsets - of_documents(inputs.lengths, documents)  # Place among the targets, from 0.
    input_places = of_documents(tf.cumsum(inputs.lengths, exclusive=True), documents) + offsets
    target_places = of_documents(tf.cumsum(targets.lengths, exclusive=True), documents) + after
    from_targets = tf.gather(targets.ids, tf.clip_by_value(target_places, 0, tf.size(targets.ids) - 1))
    from_inputs = tf.gather(inputs.ids, tf.minimum(input_places, tf.size(inputs.ids) - 1))
    labels = tf.gather(targets.ids, tf.clip_by_value(target_places + 1, 0, tf.size(targets.ids) - 1))
    label_weights = tf.where(after >= -1, of_documents(weights, documents), 0.0)
    return {
        features.TOKEN_IDS: tf.where(exists, tf.where(after >= 0, from_targets, from_inputs), 0),
        features.POSITION_IDS: offsets,
        features.DOCUMENT_IDS: _document_ids(documents, lengths),
        features.ATTENTION_ORDER: tf.where(exists & (after >= 0), offsets, 0),
        features.LABEL_IDS: tf.where(label_weights > 0, labels, 0),
        features.LABEL_WEIGHTS: label_weights,
    }


def _neighbours(
    token_ids: tf.Tensor, document_ids: tf.Tensor, moved: Callable[[tf.Tensor], tf.Tensor]
) -> tuple[tf.Tensor, tf.Tensor]:
    token_ids, document_ids = tf.convert_to_tensor(token_ids), tf.convert_to_tensor(document_ids)
    exists = (document_ids > 0) & (moved(document_ids) == document_ids)
    return moved(token_ids), exists


def _document_ids(documents: tf.Tensor, lengths: tf.Tensor) -> tf.Tensor:
    return tf.where(documents < tf.size(lengths), documents + 1, 0)
