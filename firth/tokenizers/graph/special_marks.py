"""The search for special pieces in raw text, before normalisation would split them.

Text is never read as special pieces, but for those that somebody asks for by name.
"""

import re
from collections.abc import Collection, Iterable, Sequence

import tensorflow as tf

from firth.tokenizers.graph.normalizer import SPECIAL_MARK
from firth.tokenizers.graph.special_pieces import SpecialPieces
from firth.tokenizers.graph.vocabulary import sentinel_pieces

# Names that are as short as a special piece while in the kernel, and that one expression finds.
_PLAIN = re.compile(r"\[([A-Z]{1,4})\]")
# A character that normalisation drops just as it would drop a mark typed in text.
_DROPPED = "\x81"
_SPACE = r"[\s\pZ]"


def any_of(pieces: Iterable[str]) -> str:
    r"""Returns a regular expression that finds any of these pieces, as its first group.

    Example:

    >>> any_of(["[MASK]", "<extra_id_0>"])
    '(<extra_id_0>|\\[MASK\\])'
    """
    # The longer one of two that begin alike is found.
    return f"({'|'.join(map(re.escape, sorted(pieces, key=lambda piece: (-len(piece), piece))))})"


def _plain(names: Iterable[str]) -> str:
    return rf"\[({'|'.join(names)})\]"


class SpecialMarks:
    r"""Marks special pieces that are asked for in text, each as a word that no other text can make.

    Example:

    >>> marks = SpecialMarks(SpecialPieces(mask="<mask>"))
    >>> marks(tf.constant(["a<mask>"]), ["<mask>"]).numpy()[0].decode().split()
    ['a', '\x80x4\x80']
    >>> marks.word("<mask>", False), marks(tf.constant(["a<mask>"])).numpy()[0]
    ('\x80x4\x80', b'a<mask>')
    """

    def __init__(self, specials: SpecialPieces, sentinels: int = 0) -> None:
        plain = [_PLAIN.fullmatch(piece) for piece in specials.pieces]
        names = [match[1] if match else "" for match in plain]
        self._is_plain = all(plain)
        if not self._is_plain:
            names = [f"x{number:x}" for number in range(len(names))]
        self._names = dict(zip(specials.pieces, names))
        self._sentinels = {
            piece: str(number) for number, piece in enumerate(sentinel_pieces(sentinels)[::-1])
        }

    def __call__(self, text: tf.Tensor, asked: Collection[str] = ()) -> tf.Tensor:
        """Puts special pieces between marks.

        Args:
            text: Raw texts, string [batch].

        Returns:
            string [batch]. Marks that were in the text are replaced by a character that is dropped anyway.
        """
        replace, between_marks = tf.strings.regex_replace, f" {SPECIAL_MARK}\\1{SPECIAL_MARK} "
        text = without_marks(text)
        names = {piece: name for piece, name in self._names.items() if piece in asked}
        sentinels = [number for piece, number in self._sentinels.items() if piece in asked]
        if names and self._is_plain:
            text = replace(text, _plain(names.values()), between_marks)
        elif names:
            # All are found at once, as the leftmost and longest, before any gets the name of its word.
            text = replace(text, any_of(names), between_marks)
            for piece, name in names.items():
                found = f"{SPECIAL_MARK}{re.escape(piece)}{SPECIAL_MARK}"
                text = replace(text, found, f"{SPECIAL_MARK}{name}{SPECIAL_MARK}")
        if sentinels:
            text = replace(text, f"<extra_id_({'|'.join(sentinels)})>", between_marks)
        return text

    def word(self, special: str, lowercase: bool) -> str:
        """Returns the word that a special piece becomes after marking and normalisation."""
        name = {**self._names, **self._sentinels}[special]
        return f"{SPECIAL_MARK}{name.lower() if lowercase else name}{SPECIAL_MARK}"

    @property
    def pieces(self) -> frozenset[str]:
        """All special pieces, sentinels included."""
        return frozenset((*self._names, *self._sentinels))


def mark_words(text: tf.Tensor, words: Sequence[str]) -> tf.Tensor:
    r"""Puts marks around each of some words between spaces, as `SpecialMarks` does.

    Args:
        text: Raw texts, string [batch].

    Returns:
        string [batch]; see `unmark_words`.

    Example:

    >>> mark_words(tf.constant(["<S> <S> a<S>"]), ["<S>"]).numpy()[0].decode().split()
    ['\x800\x80', '\x800\x80', 'a<S>']
    """
    text = without_marks(text)
    for number, word in enumerate(words):
        pattern = rf"(^|{_SPACE}){re.escape(word)}({_SPACE}|$)"
        for _ in range(2):  # The first time finds every other one of neighbours with one space between.
            text = tf.strings.regex_replace(text, pattern, rf"\1{SPECIAL_MARK}{number}{SPECIAL_MARK}\2")
    return text


def unmark_words(found: tf.Tensor, words: Sequence[str]) -> tf.Tensor:
    """Returns words, string [n], with those that `mark_words` marked as they were."""
    for number, word in enumerate(words):
        found = tf.where(found == f"{SPECIAL_MARK}{number}{SPECIAL_MARK}", word, found)
    return found


def without_marks(text: tf.Tensor) -> tf.Tensor:
    """Returns raw texts with marks replaced by a character that is dropped anyway: string [batch].

    Args:
        text: Raw texts, string [batch].
    """
    return tf.strings.regex_replace(text, SPECIAL_MARK, _DROPPED)


def without_specials(text: tf.Tensor, asked: Collection[str]) -> tf.Tensor:
    """Returns texts with special pieces replaced by a space: string [batch].

    Args:
        text: Raw texts, string [batch].

    Example:

    >>> without_specials(tf.constant(["a[MASK]b [mask] [SEP]"]), ["[MASK]"]).numpy()[0]
    b'a b [mask] [SEP]'
    """
    return tf.strings.regex_replace(text, any_of(asked), " ") if asked else text
