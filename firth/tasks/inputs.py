"""Inputs of a model from a row of records, and texts cut to the room of a row."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from firth import features as names
from firth.objectives.transforms.layout import Frame, Layout, spell
from firth.recipes.tasks.forms import Form


def frame_of(tokenizer: Any, *roles: Sequence[str]) -> Frame:
    """Returns the special ids before, between and after the texts of a record."""
    return Frame(*(tuple(getattr(tokenizer, f"{role}_id") for role in each) for each in roles))


def specs_of_inputs(form: Form, length: int, max_characters: int) -> dict[str, names.Spec]:
    """Returns the specs of the inputs of one row."""
    if form.of_words:
        words = names.Spec("int32", (length, max_characters))
        return {names.DOCUMENT_IDS: names.Spec("int32", (length,)), names.CHARACTERS: words}
    encoder = names.encoder_specs(length, segments=form.has_segments)
    return {**encoder, **names.decoder_specs(length)} if form.decoder_start else encoder


def apply_segments(layout: Layout, form: Form) -> Layout:
    """Returns laid out texts with the segment ids that a form tells."""
    segments = layout.segment_ids if form.separates_texts else tf.zeros_like(layout.segment_ids)
    return layout._replace(segment_ids=with_last_segment(segments, layout.document_ids, form))


def with_last_segment(segments: tf.Tensor, documents: tf.Tensor, form: Form) -> tf.Tensor:
    """Returns segment ids in which the last token of each document has the segment that a form gives it.

    Args:
        segments: Segment ids, int32 [..., length].
        documents: Document ids, int32 [..., length], 0 on padding.

    Example:

    >>> from firth.recipes.tasks.forms import XLNetForm
    >>> segments, documents = tf.constant([0, 1, 1, 0, 0]), tf.constant([1, 1, 1, 2, 0])
    >>> with_last_segment(segments, documents, XLNetForm()).numpy().tolist()
    [0, 1, 2, 2, 0]
    """
    if form.last_segment is None:
        return segments
    after = tf.concat([documents[..., 1:], tf.zeros_like(documents[..., :1])], axis=-1)
    return tf.where((documents > 0) & (documents != after), form.last_segment, segments)


def inputs_of(
    layout: Layout, row: Mapping[str, tf.Tensor], form: Form, tokenizer: Any
) -> dict[str, tf.Tensor]:
    """Returns the inputs of one row, as `specs_of_inputs` describes them."""
    if form.of_words:
        return {names.DOCUMENT_IDS: layout.document_ids, names.CHARACTERS: spell(layout, row, tokenizer)}
    read = layout.encoder_features(form.has_segments)
    return {**read, **decoder_side(read, form, tokenizer)}


def decoder_side(features: Mapping[str, tf.Tensor], form: Form, tokenizer: Any) -> dict[str, tf.Tensor]:
    """Returns the features of a decoder that reads each record from a start token on, without its last token.

    They are empty if the form has no decoder. The decoder's state at a place predicts the token there.

    Args:
        features: Features of the encoder, int32 [..., length] each.

    Example:

    >>> from firth.recipes.tasks.forms import BARTForm
    >>> from firth.tokenizers import WordPieceTokenizer
    >>> tokenizer = WordPieceTokenizer(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b"])
    >>> row = {"token_ids": [2, 5, 3, 2, 6, 3, 0], "position_ids": [0, 1, 2, 0, 1, 2, 0]}
    >>> row["document_ids"] = [1, 1, 1, 2, 2, 2, 0]
    >>> made = decoder_side({name: tf.constant(ids) for name, ids in row.items()}, BARTForm(), tokenizer)
    >>> made["decoder_token_ids"].numpy().tolist()
    [3, 2, 5, 3, 2, 6, 0]
    """
    if not form.decoder_start:
        return {}
    start = getattr(tokenizer, f"{form.decoder_start}_id")
    positions, documents = features[names.POSITION_IDS], features[names.DOCUMENT_IDS]
    before = tf.where(positions > 0, tf.roll(features[names.TOKEN_IDS], 1, -1), start)
    return {
        names.DECODER_TOKEN_IDS: tf.where(documents > 0, before, tokenizer.pad_id),
        names.DECODER_POSITION_IDS: positions,
        names.DECODER_DOCUMENT_IDS: documents,
    }


class EncodedRecord(NamedTuple):
    """A labelled record as tokens that fit a row. A row holds several of them, whole.

    Attributes:
        key: A hash of the record's id, above 0. No two records of a split have the same.
        source: Name of the record's source.
        chunks: The tokens of each of its texts, int32 [length] each, without special tokens: those of
            one document after another, if it is several documents.
        labels: The record's part of each label field of a row, by the name of the field.
        cut: Number of tokens that were cut off.
        words: The UTF-8 bytes of each token, object [length] for each text, if tokens are whole words;
            otherwise empty.
        id: Id of the record, by which a report names it.
        details: Further data that its scores need, as JSON; empty if they need none.
        is_found: Whether a corpus of the base was found to hold its texts.
        rejected: Reason why it is in no row, a name to count by; empty if it is in one.
    """

    key: int
    source: str
    chunks: tuple[npt.NDArray[np.int32], ...]
    labels: Mapping[str, list[Any]]
    cut: int = 0
    words: tuple[npt.NDArray[Any], ...] = ()
    id: str = ""
    details: str = ""
    is_found: bool = False
    rejected: str = ""


class Fitted(NamedTuple):
    """The texts of some records, as tokens that fit.

    Attributes:
        texts: Tokens of each text, ragged int32 or string [records, (tokens)].
        cut: Number of tokens that were cut off, int64 [records].
    """

    texts: tuple[tf.RaggedTensor, ...]
    cut: tf.Tensor

    @property
    def kept(self) -> tf.Tensor:
        """The number of tokens that are left, int64 [records]."""
        return tf.add_n([each.row_lengths() for each in self.texts])


def fit_texts(texts: Sequence[tf.RaggedTensor], room: int | tf.Tensor) -> Fitted:
    """Cuts the ends of texts, the longest one first, until they fit (Devlin et al. 2018, released code).

    Args:
        texts: Tokens of the texts of each record, ragged int or string [records, (tokens)] each.
        room: Most tokens of a record, or int64 [records] of each.

    Example:

    >>> a, b = tf.ragged.constant([[1, 2, 3, 4]]), tf.ragged.constant([[5, 6, 7, 8]])
    >>> [each.to_list() for each in fit_texts([a, b], 5).texts]
    [[[1, 2, 3]], [[5, 6]]]
    """
    lengths = tf.stack([each.row_lengths() for each in texts])
    kept = tf.unstack(_kept(lengths, room), num=len(texts))
    fitted = tuple(_heads(text, count) for text, count in zip(texts, kept, strict=True))
    return Fitted(fitted, tf.reduce_sum(lengths, axis=0) - tf.add_n(kept))


def _kept(lengths: tf.Tensor, room: int | tf.Tensor) -> tf.Tensor:
    """Returns the tokens that are kept of each text, int64 [texts, records]: no text is left longer than
    one that was cut, but for the tokens that remain, which the first ones get.
    """
    ordered = tf.sort(lengths, axis=0)
    left = room - tf.cumsum(ordered, axis=0, exclusive=True)
    longer = tf.range(lengths.shape[0], 0, -1, tf.int64)[:, tf.newaxis]
    # Once a text is over its share of what the shorter ones leave, so is every longer one.
    level = tf.reduce_max(left // longer, axis=0)
    kept = tf.minimum(lengths, level)
    is_cut = lengths > level
    rest = tf.where(tf.reduce_any(is_cut, axis=0), room - tf.reduce_sum(kept, axis=0), 0)
    order = tf.cumsum(tf.cast(is_cut, tf.int64), axis=0)
    return kept + tf.cast(is_cut & (order <= rest), tf.int64)


def fit_choices(
    context: tf.RaggedTensor, question: tf.RaggedTensor | None, choices: tf.RaggedTensor, room: tf.Tensor
) -> Fitted:
    """Cuts the texts of choices until they fit: of context and choice the ends, the longer one first.

    A question that leaves half of the room to the others is whole.

    Args:
        context: Tokens of the context of each choice, ragged int [choices, (tokens)].
        room: Most tokens of each choice with its context and question, int64 [choices].

    Example:

    >>> a, b = tf.ragged.constant([[1, 2, 3, 4]]), tf.ragged.constant([[5, 6, 7, 8]])
    >>> fitted = fit_choices(a, tf.ragged.constant([[9]]), b, tf.constant([6], tf.int64))
    >>> [each.to_list() for each in fitted.texts]
    [[[1, 2, 3, 9]], [[5, 6]]]
    """
    if question is None:
        return fit_texts([context, choices], room)
    asked = fit_texts([question], room // 2)
    (of_question,) = asked.texts
    fitted = fit_texts([context, choices], room - of_question.row_lengths())
    first = tf.concat([fitted.texts[0], of_question], axis=1)
    return Fitted((first, fitted.texts[1]), asked.cut + fitted.cut)


def room_of_choices(length: int, special_tokens: int, counts: tf.Tensor) -> tf.Tensor:
    """Returns the most tokens of each choice, so that all those of a record fit one row.

    Args:
        counts: Number of choices of each record, int64 [records].

    Returns:
        int64 [choices], those of one record after those of another.
    """
    return tf.repeat(length // tf.maximum(counts, 1) - special_tokens, counts)


def _heads(text: tf.RaggedTensor, counts: tf.Tensor) -> tf.RaggedTensor:
    places = tf.ragged.range(text.row_lengths()).flat_values
    kept = places < tf.repeat(counts, text.row_lengths())
    tokens = text.flat_values if text.dtype == tf.string else tf.cast(text.flat_values, tf.int32)
    return tf.RaggedTensor.from_row_lengths(tf.boolean_mask(tokens, kept), counts)
