"""Words as pieces, each of them tokenized alone, and the places of their first pieces."""

from typing import Any, NamedTuple

import tensorflow as tf


class WordPieces(NamedTuple):
    """The pieces of the words of some texts.

    Attributes:
        tokens: Pieces of each text, ragged int32 [batch, (pieces)]; ragged string if the tokenizer's pieces
            are whole words, which an exported model has no ids of.
        first_places: Place of each word's first piece among the pieces of its text, ragged int32 [batch,
            (words)]; -1 for a word without pieces.
    """

    tokens: tf.RaggedTensor
    first_places: tf.RaggedTensor


def pieces_of_words(tokenizer: Any, words: tf.RaggedTensor) -> WordPieces:
    """Tokenizes each word alone, as it is after a space.

    Args:
        words: Words of each text, ragged string [batch, (words)].
    """
    if tokenizer.max_characters:
        return _whole_words(tokenizer, words)
    # Where a space is a part of the piece after it, a word without one would be the end of another word.
    space = " " if tokenizer.keeps_spaces else ""
    pieces = tokenizer.tokenize(tf.strings.join([space, words.flat_values]))
    lengths = tf.cast(pieces.row_lengths(), tf.int32)
    ends = tf.pad(tf.cumsum(lengths), [[1, 0]])
    splits = tf.gather(ends, words.row_splits)
    of_texts = tf.RaggedTensor.from_row_splits(
        tf.cast(pieces.flat_values, tf.int32), tf.cast(splits, tf.int64)
    )
    starts = ends[:-1] - tf.gather(splits, tf.cast(words.value_rowids(), tf.int32))
    return WordPieces(of_texts, words.with_flat_values(tf.where(lengths > 0, starts, -1)))


def _whole_words(tokenizer: Any, words: tf.RaggedTensor) -> WordPieces:
    """Returns words as the one piece that each of them is, in the form in which the tokenizer reads words."""
    # The tokenizer may split a word, such as "don't"; its parts are joined again.
    read = tf.strings.reduce_join(tokenizer.split(words.flat_values), axis=-1)
    for name in set(tokenizer.special_pieces).difference(tokenizer.special_texts):
        # No word that is read has a space: spelled with one, the name is the mark of a sentence no more.
        read = tf.where(read == name, f"{name} ", read)
    is_read = read != ""
    whole = tf.ragged.boolean_mask(words.with_flat_values(read), words.with_flat_values(is_read))
    before = tf.cumsum(tf.cast(is_read, tf.int32), exclusive=True)
    firsts = tf.cast(tf.gather(whole.row_splits, words.value_rowids()), tf.int32)
    return WordPieces(whole, words.with_flat_values(tf.where(is_read, before - firsts, -1)))
