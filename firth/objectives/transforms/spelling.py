"""The characters of the words of a row."""

from typing import Any

import tensorflow as tf

from firth import features
from firth.objectives.transforms.documents import Row
from firth.objectives.transforms.layout import Layout


def spell(layout: Layout, row: Row, tokenizer: Any) -> tf.Tensor:
    """Returns the characters of each word of a row that is laid out as `<S> words </S>`.

    Returns:
        int32 [length, max_characters].
    """
    padding = [0] * tokenizer.max_characters
    specials = [padding, tokenizer.bos_characters, tokenizer.eos_characters]
    # After the words stand padding and the frame, as in `Layout.sources`.
    characters = tf.concat([row[features.CHARACTERS], tf.constant(specials, tf.int32)], 0)
    return tf.gather(characters, layout.sources)
