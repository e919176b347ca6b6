"""The special pieces, and their search in raw text before normalisation would split them."""

import re
from collections.abc import Iterable, Sequence

import tensorflow as tf

from firth.tokenizers.graph.normalizer import SPECIAL_MARK

_PATTERN = r"\[(PAD|UNK|CLS|SEP|MASK)\]"
_SENTINEL, _SENTINEL_END = "<extra_id_", ">"
# A character that normalisation drops just as it would drop a mark typed in text.
_DROPPED = "\x81"
_SPACE = r"[\s\pZ]"


def any_of(pieces: Iterable[str]) -> str:
    r"""Returns a regular expression that finds any of these pieces, as its first group.

    Args:
        pieces: Pieces to find.

    Example:

    >>> any_of(["[MASK]", "<extra_id_0>"])
    '(<extra_id_0>|\\[MASK\\])'
    """
    return f"({'|'.join(map(re.escape, sorted(pieces)))})"


def mark_specials(text: tf.Tensor, sentinels: int = 0) -> tf.Tensor:
    """Puts each special piece typed in text between marks, as a word that no other text can make.

    Args:
        text: Raw texts, string [batch].
        sentinels: Number of sentinels `<extra_id_0>`, `<extra_id_1>`, ... that are special pieces too.

    Returns:
        string [batch]. Marks that were in the text are replaced by a character that is dropped anyway.
    """
    text = without_marks(text)
    between_marks = f" {SPECIAL_MARK}\\1{SPECIAL_MARK} "
    text = tf.strings.regex_replace(text, _PATTERN, between_marks)
    if sentinels:
        numbers = "|".join(map(str, range(sentinels)))
        text = tf.strings.regex_replace(text, f"{_SENTINEL}({numbers}){_SENTINEL_END}", between_marks)
    return text


def marked(special: str, lowercase: bool) -> str:
    """Returns the word that a special piece becomes after `mark_specials` and normalisation.

    Args:
        special: Special piece.
        lowercase: True if normalisation lower-cases.
    """
    name = special.strip("[]").removeprefix(_SENTINEL).removesuffix(_SENTINEL_END)
    return f"{SPECIAL_MARK}{name.lower() if lowercase else name}{SPECIAL_MARK}"


def mark_words(text: tf.Tensor, words: Sequence[str]) -> tf.Tensor:
    r"""Puts marks around each of some words between spaces, as `mark_specials` does.

    Args:
        text: Raw texts, string [batch].
        words: Words to mark. The marked text has the place of each in this list.

    Returns:
        string [batch]; see `unmark_words`.

    Example:

    >>> mark_words(tf.constant(["<S> <S> a<S>"]), ["<S>"]).numpy()[0].decode().split()
    ['\x800\x80', '\x800\x80', 'a<S>']
    """
    text = without_marks(text)
    for number, word in enumerate(words):
        pattern = rf"(^|{_SPACE}){re.escape(word)}({_SPACE}|$)"
        for _ in range(2):  # Of neighbours with one space between, the first time finds every other one.
            text = tf.strings.regex_replace(text, pattern, rf"\1{SPECIAL_MARK}{number}{SPECIAL_MARK}\2")
    return text


def unmark_words(found: tf.Tensor, words: Sequence[str]) -> tf.Tensor:
    """Returns words, string [n], with those that `mark_words` marked as they were.

    Args:
        found: Words, string [n].
        words: Words that were marked.
    """
    for number, word in enumerate(words):
        found = tf.where(found == f"{SPECIAL_MARK}{number}{SPECIAL_MARK}", word, found)
    return found


def without_marks(text: tf.Tensor) -> tf.Tensor:
    """Returns raw texts with marks replaced by a character that is dropped anyway: string [batch].

    Args:
        text: Raw texts, string [batch].
    """
    return tf.strings.regex_replace(text, SPECIAL_MARK, _DROPPED)


def without_specials(text: tf.Tensor) -> tf.Tensor:
    """Returns texts with each of the five special pieces replaced by a space: string [batch].

    Args:
        text: Raw texts, string [batch].

    Example:

    >>> without_specials(tf.constant(["a[MASK]b [mask]"])).numpy()[0]
    b'a b [mask]'
    """
    return tf.strings.regex_replace(text, _PATTERN, " ")
