"""The characters of words as ELMo reads them (Peters et al. 2018), numbered as in its reference code.

A word is its UTF-8 bytes between two marks. 0 is left for positions without a word, so everything is one
higher than in the files of the reference code, which count from the bytes.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf

# A byte's character is the byte and 1.
FIRST_BYTE = 1
SENTENCE_BEGIN, SENTENCE_END, WORD_BEGIN, WORD_END, PADDING = range(257, 262)
MARKS = 2
# Words that are read as marks wherever they stand, as in the reference code.
BEGIN_WORD, END_WORD = "<S>", "</S>"


def word_characters(words: tf.Tensor, max_characters: int) -> tf.Tensor:
    """Returns the characters of words.

    The words `<S>` and `</S>` are read as the marks of `sentence_characters`, `<UNK>` as its five bytes, as
    bilm-tf reads the words of its vocabulary.

    Returns:
        int32 [n, max_characters]: begin mark, bytes, end mark, padding.

    Example:

    >>> word_characters(["ab", "é", "<S>"], 6).numpy().tolist()
    [[259, 98, 99, 260, 261, 261], [259, 196, 170, 260, 261, 261], [259, 257, 260, 261, 261, 261]]
    """
    words = tf.convert_to_tensor(words, tf.string)
    room = max_characters - MARKS
    lengths = tf.minimum(tf.strings.length(words), room)[:, tf.newaxis]
    taken = tf.cast(tf.io.decode_raw(words, tf.uint8, fixed_length=room), tf.int32) + FIRST_BYTE
    places = tf.range(room + 1)
    inside = tf.where(
        places < lengths, tf.pad(taken, [[0, 0], [0, 1]]), tf.where(places == lengths, WORD_END, PADDING)
    )
    characters = tf.pad(inside, [[0, 0], [1, 0]], constant_values=WORD_BEGIN)
    for word, mark in zip((BEGIN_WORD, END_WORD), sentence_characters(max_characters)):
        characters = tf.where((words == word)[:, tf.newaxis], mark, characters)
    return characters


def sentence_characters(max_characters: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Returns the characters of `<S>` and `</S>`, int32 [max_characters] each: one mark that no byte makes.

    Example:

    >>> sentence_characters(5)[0].tolist()
    [259, 257, 260, 261, 261]
    """
    begin, end = (
        np.array([WORD_BEGIN, mark, WORD_END, *[PADDING] * (max_characters - MARKS - 1)], dtype=np.int32)
        for mark in (SENTENCE_BEGIN, SENTENCE_END)
    )
    return begin, end
