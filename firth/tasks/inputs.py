"""Inputs of a model from a row of records."""

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


def told_segments(layout: Layout, form: Form) -> Layout:
    """Returns laid out texts with the segment ids that a form tells."""
    segments = layout.segment_ids if form.tells_texts else tf.zeros_like(layout.segment_ids)
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
