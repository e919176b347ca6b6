"""Unicode's normal forms with the tables of Unicode 9.0, as Hugging Face's normalisers have them.

A younger character passes as it is, and nothing composes with it or moves past it. Unicode never changes
the forms of a character that it has, so ids depend on no version of tensorflow-text or Python.
"""

import functools

import tensorflow as tf
import tensorflow_text as tf_text

from firth.tokenizers.graph.frozen_tables import read_table

# In no UTF-8.
_SEPARATOR = b"\xff\xfe\xff\xfe"


def normalize_utf8(text: tf.Tensor, form: str) -> tf.Tensor:
    r"""Returns texts in a form.

    Example:

    >>> normalize_utf8(tf.constant("e\u0301\u32ff\u3300"), "NFKC").numpy().decode()
    'é㋿アパート'
    """
    younger = _younger_run()
    marked = tf.strings.regex_replace(text, f"({younger})", _SEPARATOR + rb"\1" + _SEPARATOR)
    # `tf_text.regex_split` reads a text to its first NUL only.
    parts = tf.strings.split(tf.reshape(marked, [-1]), _SEPARATOR)
    values = parts.flat_values
    stays = tf.strings.regex_full_match(values, younger)
    parts = parts.with_flat_values(tf.where(stays, values, tf_text.normalize_utf8(values, form)))
    return tf.reshape(tf.strings.reduce_join(parts, axis=-1), tf.shape(text))


@functools.cache
def _younger_run() -> str:
    """Returns a pattern of RE2 that a run of characters which Unicode 9.0 does not have matches."""
    spans = "".join(f"{chr(first)}-{chr(last)}" for first, last in read_table("unicode_9")["unassigned"])
    return f"[{spans}]+"
