"""The special pieces, and how they are found in raw text before normalisation takes them apart."""

import re
from collections.abc import Iterable

import tensorflow as tf

from firth.tokenizers.normalizer import SPECIAL_MARK

_PATTERN = r"\[(PAD|UNK|CLS|SEP|MASK)\]"
_SENTINEL, _SENTINEL_END = "<extra_id_", ">"
# A character that normalisation drops just as it would drop a mark typed in text.
_DROPPED = "\x81"


def any_of(pieces: Iterable[str]) -> str:
    r"""Returns a regular expression that finds any of these pieces, as its first group.

    Example:

    >>> any_of(["[MASK]", "<extra_id_0>"])
    '(<extra_id_0>|\\[MASK\\])'
    """
    return f"({'|'.join(map(re.escape, sorted(pieces)))})"


def mark_specials(text: tf.Tensor, sentinels: int = 0) -> tf.Tensor:
    """Puts each special piece typed in text between marks, as a word that no other text can make.

    Args:
        text: string [batch], raw.
        sentinels: How many of `<extra_id_0>`, `<extra_id_1>`, ... are special pieces too.

    Returns:
        string [batch]. Marks that were in the text are exchanged for a character that is dropped anyway.
    """
    text = tf.strings.regex_replace(text, SPECIAL_MARK, _DROPPED)
    between_marks = f" {SPECIAL_MARK}\\1{SPECIAL_MARK} "
    text = tf.strings.regex_replace(text, _PATTERN, between_marks)
    if sentinels:
        numbers = "|".join(map(str, range(sentinels)))
        text = tf.strings.regex_replace(text, f"{_SENTINEL}({numbers}){_SENTINEL_END}", between_marks)
    return text


def marked(special: str, lowercase: bool) -> str:
    """Returns the word that a special piece becomes after `mark_specials` and normalisation."""
    name = special.strip("[]").removeprefix(_SENTINEL).removesuffix(_SENTINEL_END)
    return f"{SPECIAL_MARK}{name.lower() if lowercase else name}{SPECIAL_MARK}"


def without_specials(text: tf.Tensor) -> tf.Tensor:
    """Replaces each of the five special pieces typed in text by a space: string [batch] to string [batch].

    Example:

    >>> without_specials(tf.constant(["a[MASK]b [mask]"])).numpy()[0]
    b'a b [mask]'
    """
    return tf.strings.regex_replace(text, _PATTERN, " ")
