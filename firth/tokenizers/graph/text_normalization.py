"""Normalisation of text in the TensorFlow graph: the served model repeats what the corpus did."""

import functools
from collections.abc import Sequence
from typing import Any

import tensorflow as tf
import tensorflow_text as tf_text

from firth.tokenizers.graph.characters import read_table

# A pattern of RE2 and what replaces it, or one of Unicode's normalisation forms.
Step = tuple[str, str] | tuple[str]


class TextNormalization:
    r"""Substitutions and Unicode forms, in order.

    Args:
        steps: Steps in order: a pair of a pattern of RE2 and the replacement of every match, or the name of a
            form (Unicode Standard Annex 15) alone, by the tables of Unicode 9.0;
            `firth.recipes.Cleaning.text_steps` gives them.

    Raises:
        ValueError: for a step that is neither a pair nor a form alone.

    Example:

    >>> normalization = TextNormalization([(r"\s+", " "), ("NFC",)])
    >>> normalization(tf.constant(["cafe\u0301  au lait"])).numpy()[0].decode()
    'café au lait'
    """

    def __init__(self, steps: Sequence[Sequence[str]] = ()) -> None:
        self.steps: tuple[Step, ...] = tuple(_step(step) for step in steps)

    def __call__(self, text: tf.Tensor) -> tf.Tensor:
        """Returns string [batch] in its one form."""
        for step in self.steps:
            text = normalize_utf8(text, step[0]) if len(step) == 1 else tf.strings.regex_replace(text, *step)
        return text

    @property
    def settings(self) -> dict[str, Any]:
        """Arguments that make this object again, fit for JSON; empty without steps."""
        return {"normalization": [list(step) for step in self.steps]} if self.steps else {}


def _step(step: Sequence[str]) -> Step:
    if isinstance(step, str) or len(step) not in (1, 2):
        raise ValueError(f"normalization: {step!r} is neither [pattern, replacement] nor [form]")
    return (step[0],) if len(step) == 1 else (step[0], step[1])


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
