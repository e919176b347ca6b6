"""Lays out the chunks of a row one after another, with their special tokens."""

from typing import Any, NamedTuple

import tensorflow as tf

from firth import features
from firth.objectives.transforms.documents import Row, find_parts
from firth.objectives.transforms.pairs import Pairs


class Frame(NamedTuple):
    """Ids of the special tokens around the segments of each document: `before A between B after`.

    Without `between` a document has one segment only.

    Attributes:
        before: Ids in front of the first segment.
        between: Ids between the two segments.
        after: Ids after the last segment.
    """

    before: tuple[int, ...] = ()
    between: tuple[int, ...] = ()
    after: tuple[int, ...] = ()

    @property
    def ids(self) -> tuple[int, ...]:
        """All ids in order."""
        return self.before + self.between + self.after


class Layout(NamedTuple):
    """A laid out row, before any of its tokens is hidden.

    Attributes:
        token_ids: Ids, int32 [length].
        segment_ids: int32 [length], 1 on the second segment and the special tokens after it.
        position_ids: Positions, int32 [length], counted from each document's first token.
        document_ids: int32 [length], 0 on padding, i + 1 on chunk i.
        is_text: bool [length], False on padding and on special tokens of the frame.
        word_starts: bool [length], True where a word of the text begins. A segment may begin without one, if
            a chunk could only be split within a word.
        sources: Origin of each place, int32 [length]: an index into the raw tokens of the row, those of the
            negative row (if there is one), the padding id and the frame's ids, one after another.
        starts: First place of each document, int32 [max_documents], zeros after.
    """

    token_ids: tf.Tensor
    segment_ids: tf.Tensor
    position_ids: tf.Tensor
    document_ids: tf.Tensor
    is_text: tf.Tensor
    word_starts: tf.Tensor
    sources: tf.Tensor
    starts: tf.Tensor

    def encoder_features(self, segments: bool = True) -> dict[str, tf.Tensor]:
        """Returns the features of `features.encoder_specs`, without `attention_order`."""
        made = {
            features.TOKEN_IDS: self.token_ids,
            features.POSITION_IDS: self.position_ids,
            features.DOCUMENT_IDS: self.document_ids,
        }
        return {**made, features.SEGMENT_IDS: self.segment_ids} if segments else made


def lay_out(
    row: Row,
    negative: Row | None,
    pairs: Pairs,
    length: int,
    frame: Frame,
    pad_id: int,
) -> Layout:
    """Lays the chunks of one row out as `before A between B after`, or as `before A after`.

    Example: the chunks (7 8 9) and (5), split in two where they can be.

    >>> from firth.objectives.transforms.pairs import true_pairs
    >>> row = {
    ...     "tokens": tf.constant([7, 8, 9, 5]),
    ...     "word_starts": tf.constant([1, 1, 1, 1]),
    ...     "sentence_starts": tf.constant([1, 0, 1, 1]),
    ...     "chunk_lengths": tf.constant([3, 1]),
    ... }
    >>> frame = Frame(before=(2,), between=(3,), after=(3,))
    >>> made = lay_out(row, None, true_pairs(row, seed=[1, 2]), 11, frame, pad_id=0)
    >>> for name in ("token_ids", "segment_ids", "document_ids"):
    ...     print(f"{name:12}", getattr(made, name).numpy())
    token_ids    [2 7 8 3 9 3 2 5 3 3 0]
    segment_ids  [0 0 0 0 1 1 0 0 0 1 0]
    document_ids [1 1 1 1 1 1 2 2 2 2 0]
    """
    exists = row[features.CHUNK_LENGTHS] > 0
    block_lengths = tf.where(exists, pairs.lengths + len(frame.ids), 0)
    chunks, offsets = find_parts(block_lengths, length)
    # One more chunk is the padding after all of them.
    of_chunks = tf.pad(
        tf.stack([pairs.first_sources, pairs.first_lengths, pairs.second_sources, pairs.second_lengths]),
        [[0, 0], [0, 1]],
    )
    of_places = tf.unstack(tf.gather(of_chunks, chunks, axis=1), num=4)
    texts = [row] if negative is None else [row, negative]
    text_size = len(texts) * tf.size(row[features.RAW_TOKENS])
    inside = chunks < tf.size(block_lengths)
    sources, is_second = _sources(offsets, of_places, inside, frame, text_size)
    specials = tf.constant([pad_id, *frame.ids], tf.int32)
    tokens = tf.concat([*(text[features.RAW_TOKENS] for text in texts), specials], 0)
    starts = tf.concat([*(text[features.WORD_STARTS] for text in texts), tf.zeros_like(specials)], 0)
    used = sources != text_size
    return Layout(
        token_ids=tf.gather(tokens, sources),
        segment_ids=tf.cast(used & is_second, tf.int32),
        position_ids=tf.where(used, offsets, 0),
        document_ids=tf.where(used, chunks + 1, 0),
        is_text=sources < text_size,
        word_starts=tf.gather(starts, sources) > 0,
        sources=sources,
        starts=tf.where(exists, tf.cumsum(block_lengths, exclusive=True), 0),
    )


def spell(layout: Layout, row: Row, tokenizer: Any) -> tf.Tensor:
    """Returns the characters of each word of a row that is laid out as `<S> words </S>`.

    Returns:
        int32 [length, max_characters].
    """
    padding = [0] * tokenizer.max_characters
    specials = [padding, tokenizer.bos_characters, tokenizer.eos_characters]
    # Padding and the frame come after the words, as in `Layout.sources`.
    characters = tf.concat([row[features.CHARACTERS], tf.constant(specials, tf.int32)], 0)
    return tf.gather(characters, layout.sources)


def _sources(
    offsets: tf.Tensor, of_places: tf.Tensor, inside: tf.Tensor, frame: Frame, padding: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor]:
    """Returns `Layout.sources`, and True for places in the second segment or after it."""
    first_source, first, second_source, second = of_places
    # Special tokens are numbered after the padding.
    place = offsets - len(frame.before)
    after = place - first  # Place after the first segment.
    specials = padding + 1 + offsets
    if not frame.between:
        sources = tf.where(after >= 0, specials - first, specials)
        sources = tf.where((place >= 0) & (after < 0), first_source + place, sources)
        used = inside & (after < len(frame.after))
        return tf.where(used, sources, padding), tf.zeros_like(inside)
    in_second = after - len(frame.between)  # Place in the second segment.
    after_second = in_second - second
    sources = tf.where(after >= 0, specials - first, specials)
    sources = tf.where(in_second >= 0, second_source + in_second, sources)
    sources = tf.where(after_second >= 0, specials - first - second, sources)
    sources = tf.where((place >= 0) & (after < 0), first_source + place, sources)
    used = inside & (after_second < len(frame.after))
    return tf.where(used, sources, padding), in_second >= 0
