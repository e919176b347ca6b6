"""Counting the words of text, as the tokenizer would see them."""

import collections
import functools
import re
from collections.abc import Collection, Sequence

import tensorflow as tf
import tensorflow_text as tf_text

from firth.tokenizers.graph import characters
from firth.tokenizers.graph.byte_pair_kernel import SPECIAL_WORD, WordSplitter
from firth.tokenizers.graph.byte_pieces import to_piece
from firth.tokenizers.graph.normalizer import build_normalizer_model
from firth.tokenizers.graph.special_marks import without_marks, without_specials

# A longer one is not a word of a language; it would cost the training much time and teach it nothing.
_MAX_WORD_BYTES = 256


@functools.lru_cache(maxsize=2)
def _normalizer(lowercase: bool) -> tf_text.FastBertNormalizer:
    return tf_text.FastBertNormalizer(model_buffer=tf.constant(build_normalizer_model(lowercase, split=True)))


@functools.lru_cache(maxsize=1)
def ideograph_pattern() -> str:
    """Returns a regular expression with one group for a CJK ideograph, which is a word of its own."""
    ideographs = characters.spans(characters.Kind.IDEOGRAPHS)
    return f"([{''.join(f'{chr(first)}-{chr(last)}' for first, last in ideographs)}])"


def count_words(
    texts: Sequence[str], lowercase: bool, max_word_characters: int = 100, specials: Collection[str] = ()
) -> dict[str, int]:
    """Returns the number of occurrences of each word in a batch of texts.

    Normalisation and splitting are those of `WordPieceTokenizer`. Words longer than `max_word_characters` do
    not count, which encoding turns to `[UNK]`.

    Args:
        texts: Texts of the batch.
        lowercase: True to lower-case and strip accents.
        max_word_characters: Most characters of a word that is counted.
        specials: Special pieces that are read as such where they are typed, so that they are not words.

    Example:

    >>> count_words(["The [MASK] fox.", "the END"], lowercase=True, specials=["[MASK]"])
    {'the': 2, 'fox': 1, '.': 1, 'end': 1}
    """
    if not len(texts):
        return {}
    with tf.device("CPU"):
        given = without_marks(without_specials(tf.constant(texts, tf.string), specials))
        normalized = _normalizer(lowercase).normalize(given)
    joined = b" ".join(normalized.numpy().tolist()).decode()
    counts = collections.Counter(re.sub(ideograph_pattern(), r" \1 ", joined).split())
    return {word: count for word, count in counts.items() if len(word) <= max_word_characters}


def count_byte_words(texts: Sequence[str], specials: Collection[str] = ()) -> dict[str, int]:
    """Returns the number of occurrences of each word of bytes in a batch of texts.

    Words are split as by `BytePairTokenizer`. Words longer than 256 bytes do not count.

    Args:
        texts: Texts of the batch.
        specials: Special pieces that are read as such where they are typed, so that they are not words.

    Returns:
        Counts by word, written as by `byte_pieces.to_piece`.

    Example:

    >>> count_byte_words(["the cat, the end[MASK]"], ["[MASK]"])
    {'the': 1, 'Ġcat': 1, ',': 1, 'Ġthe': 1, 'Ġend': 1}
    """
    if not len(texts):
        return {}
    with tf.device("CPU"):
        words = WordSplitter(specials)(tf.constant(texts, tf.string)).flat_values.numpy()
    counts = collections.Counter(words.tolist())
    ordinary = {word.decode(): count for word, count in counts.items() if not word.startswith(SPECIAL_WORD)}
    return {
        to_piece(word.encode("latin-1")): count
        for word, count in ordinary.items()
        if 0 < len(word) <= _MAX_WORD_BYTES
    }


def count_spaced_words(texts: Sequence[str], specials: Collection[str] = ()) -> dict[str, int]:
    """Returns the number of occurrences of each word between spaces, for SentencePiece's trainer.

    Words longer than 256 bytes do not count.

    Args:
        texts: Texts of the batch.
        specials: Special pieces that are read as such where they are typed, so that they are not words.

    Example:

    >>> count_spaced_words(["The cat, the end[MASK]"], ["[MASK]"])
    {'The': 1, 'cat,': 1, 'the': 1, 'end': 1}
    """
    if not len(texts):
        return {}
    given = without_specials(tf.constant(texts, tf.string), specials).numpy()
    counts = collections.Counter(b" ".join(given.tolist()).decode().replace("\0", " ").split())
    return {word: count for word, count in counts.items() if len(word.encode()) <= _MAX_WORD_BYTES}
