"""Texts cut into pieces with their places, and into windows that overlap, inside the graph."""

from typing import Any, NamedTuple

import tensorflow as tf

from firth.tasks.word_offsets import split_words

# The rest of a longer text is not read, so that no text takes the memory of a server or its time.
MOST_WINDOWS = 128


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
        """Returns the values of the windows, ragged [windows, (pieces)].

        Args:
            values: Values of the pieces of the texts, ragged [batch, (pieces)].
        """
        splits = tf.cast(values.row_splits, tf.int32)
        firsts = tf.gather(splits, self.owners) + self.starts
        places = tf.ragged.range(firsts, firsts + self.lengths, row_splits_dtype=tf.int64)
        return places.with_flat_values(tf.gather(values.flat_values, places.flat_values))


def place_pieces(tokenizer: Any, texts: tf.Tensor) -> PlacedPieces:
    """Returns the pieces of raw texts with the places of their words, counted in characters.

    A text is split at spaces and around punctuation, as BERT's tokenizer does, and its words are tokenized
    one by one: with a space before them where the text has one, if the tokenizer's pieces hold spaces. A text
    without any piece is one piece for unknown text, which is no part of it.

    Args:
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
        questions: Questions, string [batch].
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


def read_lengths(lengths: tf.Tensor, rooms: tf.Tensor, stride: int) -> tf.Tensor:
    """Returns how many pieces of each text are read, int32 [batch]: those of `MOST_WINDOWS` windows at most.

    Args:
        lengths: Pieces of each text, int32 [batch].
        rooms: Most pieces of a window of each text, int32 [batch].
    """
    return tf.minimum(lengths, rooms + (MOST_WINDOWS - 1) * tf.minimum(stride, rooms))


def read_windows(lengths: tf.Tensor, room: int | tf.Tensor, stride: int) -> tuple[Windows, tf.Tensor]:
    """Returns the windows of texts, `MOST_WINDOWS` of each at most, and the pieces of each that they hold.

    Args:
        lengths: Pieces of each text, int32 [batch].
        room: Most pieces of a window, or int32 [batch] of each text.
    """
    rooms = tf.zeros_like(lengths) + room
    read = read_lengths(lengths, rooms, stride)
    return windows_of(read, rooms, stride), read


class WordWindows(NamedTuple):
    """The windows of some texts, and which of them answers for each word.

    Attributes:
        windows: The windows.
        owners: Number of the window of each word, int32 [words]: of those that hold the word's first piece
            the one with most pieces around it; -1 for a word of which no piece is read.
        places: Place of the word's first piece among those of its window, int32 [words]; 0 if none is read.
        read: Pieces of each text that are read, int32 [batch].
    """

    windows: Windows
    owners: tf.Tensor
    places: tf.Tensor
    read: tf.Tensor


def word_windows(lengths: tf.Tensor, first_places: tf.RaggedTensor, room: int) -> WordWindows:
    """Cuts texts into windows of which each shares a quarter with the next one, for an answer to each word.

    The ends of a text count as if there were text without end around it: nothing more could be read there.

    Args:
        lengths: Pieces of each text, int32 [batch].
        first_places: Place of each word's first piece in its text, ragged int32 [batch, (words)]; -1 for a
            word without pieces.

    Example:

    >>> found = word_windows(tf.constant([10]), tf.ragged.constant([[0, 3, 6, 7, 9]]), room=8)
    >>> found.windows.starts.numpy().tolist(), found.windows.lengths.numpy().tolist()
    ([0, 6], [8, 4])
    >>> found.owners.numpy().tolist(), found.places.numpy().tolist()
    ([0, 0, 0, 1, 1], [0, 3, 6, 1, 3])
    """
    stride = stride_of(room)
    windows, read = read_windows(lengths, room, stride)
    last = tf.maximum(read - room + stride - 1, 0) // stride
    firsts = tf.cumsum(last + 1, exclusive=True)
    texts = tf.cast(first_places.value_rowids(), tf.int32)
    size, place = tf.gather(read, texts), first_places.flat_values
    # As a stride is more than half of a window, no piece is in more than two.
    later = tf.minimum(tf.maximum(place, 0) // stride, tf.gather(last, texts))
    earlier = tf.maximum(later - 1, 0)
    chosen = tf.where(
        _context(place, earlier, stride, room, size) >= _context(place, later, stride, room, size),
        earlier,
        later,
    )
    is_read = (place >= 0) & (place < size)
    owners = tf.where(is_read, tf.gather(firsts, texts) + chosen, -1)
    return WordWindows(windows, owners, tf.where(is_read, place - chosen * stride, 0), read)


def stride_of(room: int) -> int:
    """Returns the pieces between the starts of neighbouring windows, which share a quarter of them."""
    return room - room // 4


def _context(place: tf.Tensor, window: tf.Tensor, stride: int, room: int, size: tf.Tensor) -> tf.Tensor:
    """Returns the fewer of the pieces before and after a place in a window; -1 if it is not in the window."""
    start = window * stride
    end = tf.minimum(start + room, size)
    before = tf.where(window == 0, size, place - start)
    after = tf.where(end == size, size, end - 1 - place)
    return tf.where((place >= start) & (place < end), tf.minimum(before, after), -1)
