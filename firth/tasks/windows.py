"""Texts cut into pieces with their places, and into windows that overlap, inside the graph."""

from typing import Any, NamedTuple

import tensorflow as tf

from firth.tasks.word_offsets import split_words


class PlacedPieces(NamedTuple):
    """The pieces of some texts, each ragged int32 [batch, (pieces)].

    Attributes:
        ids: Ids of the pieces.
        starts: Place of the first character of the piece's word in the text.
        ends: Place after the last character of the piece's word.
    """

    ids: tf.RaggedTensor
    starts: tf.RaggedTensor
    ends: tf.RaggedTensor


class Windows(NamedTuple):
    """The windows of some texts, one text after another, each int32 [windows].

    Attributes:
        owners: Number of the text.
        starts: Place of the first piece among those of the text.
        lengths: Number of pieces.
    """

    owners: tf.Tensor
    starts: tf.Tensor
    lengths: tf.Tensor

    def of(self, values: tf.RaggedTensor) -> tf.RaggedTensor:
        """Returns what the windows hold, ragged [windows, (pieces)].

        Args:
            values: Values of the pieces of the texts, ragged [batch, (pieces)].
        """
        splits = tf.cast(values.row_splits, tf.int32)
        firsts = tf.gather(splits, self.owners) + self.starts
        places = tf.ragged.range(firsts, firsts + self.lengths, row_splits_dtype=tf.int64)
        return places.with_flat_values(tf.gather(values.flat_values, places.flat_values))


def placed_pieces(tokenizer: Any, texts: tf.Tensor) -> PlacedPieces:
    """Returns the pieces of raw texts with the places of their words, counted in characters.

    A text is split at spaces and around punctuation, as BERT's tokenizer does, and its words are tokenized
    one by one: with a space before them where the text has one, if the tokenizer's pieces hold spaces. A text
    without any piece is one piece for unknown text, which stands for nothing in it.

    Args:
        tokenizer: Tokenizer of pieces.
        texts: Texts, string [batch].
    """
    words = split_words(texts, tokenizer.special_texts)
    texts_of_words = words.texts.value_rowids()
    follows = tf.concat([[False], texts_of_words[1:] == texts_of_words[:-1]], 0)[: tf.size(texts_of_words)]
    ends_before = tf.concat([[0], words.ends.flat_values], 0)[:-1]
    after_space = words.starts.flat_values > tf.where(follows, ends_before, 0)
    pieces = tokenizer.tokenize_words(words.texts.flat_values, after_space)
    lengths = pieces.row_lengths()
    splits = tf.gather(pieces.row_splits, words.texts.row_splits)
    of_texts = [
        tf.RaggedTensor.from_row_splits(tf.cast(values, tf.int32), splits, validate=False)
        for values in (
            pieces.flat_values,
            tf.repeat(words.starts.flat_values, lengths),
            tf.repeat(words.ends.flat_values, lengths),
        )
    ]
    return PlacedPieces(*(_filled(each, fill) for each, fill in zip(of_texts, (tokenizer.unk_id, 0, 0))))


def question_pieces(tokenizer: Any, questions: tf.Tensor, most: int) -> tuple[tf.RaggedTensor, tf.Tensor]:
    """Returns the pieces of questions, ragged int32 [batch, (pieces)], and how many were cut off.

    Args:
        tokenizer: Tokenizer of pieces.
        questions: Questions, string [batch].
        most: Most pieces of a question.
    """
    pieces = tokenizer.tokenize(questions)
    kept = _filled(pieces[:, :most], tokenizer.unk_id)
    return kept, tf.maximum(pieces.row_lengths() - most, 0)


def _filled(values: tf.RaggedTensor, fill: int) -> tf.RaggedTensor:
    """Returns ragged values in which an empty row holds one value."""
    missing = tf.cast(values.row_lengths() == 0, tf.int64)
    count = tf.reduce_sum(missing)
    fills = tf.RaggedTensor.from_row_lengths(tf.fill([count], fill), missing, validate=False)
    return tf.concat([tf.cast(values, tf.int32), fills], axis=1)


def windows_of(lengths: tf.Tensor, rooms: tf.Tensor, stride: int) -> Windows:
    """Cuts texts into windows, each of which starts so many pieces after the one before it.

    Every piece is in a window, and the last window of a text ends where the text ends.

    Args:
        lengths: Pieces of each text, int32 [batch].
        rooms: Most pieces of a window of each text, int32 [batch].
        stride: Pieces from one start to the next; a window that holds fewer is followed by the next at once.

    Example:

    >>> found = windows_of(tf.constant([3, 10]), tf.constant([4, 6]), stride=3)
    >>> [each.numpy().tolist() for each in found]
    [[0, 1, 1, 1], [0, 0, 3, 6], [3, 6, 6, 4]]
    """
    steps = tf.minimum(stride, rooms)
    counts = 1 + tf.maximum(lengths - rooms + steps - 1, 0) // steps
    owners = tf.repeat(tf.range(tf.size(lengths)), counts)
    starts = tf.ragged.range(counts).flat_values * tf.gather(steps, owners)
    return Windows(owners, starts, tf.minimum(tf.gather(rooms, owners), tf.gather(lengths, owners) - starts))
