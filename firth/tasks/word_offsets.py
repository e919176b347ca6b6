"""Raw text cut into words with their places in it, inside the graph."""

import functools
from collections.abc import Iterable
from typing import Any, NamedTuple

import tensorflow as tf
import tensorflow_text as tf_text

from firth.tokenizers.graph import characters
from firth.tokenizers.graph.characters import Kind
from firth.tokenizers.graph.special_marks import any_of

# It is dropped as NUL is.
_STAND_IN = "\x01"


class Words(NamedTuple):
    """The words of some texts, each ragged [batch, (words)].

    Attributes:
        texts: The words as the text has them, string.
        starts: Place of the first character in the text, int32.
        ends: Place after the last character, int32.
    """

    texts: tf.RaggedTensor
    starts: tf.RaggedTensor
    ends: tf.RaggedTensor


def split_words(text: tf.Tensor, specials: Iterable[str] = ()) -> Words:
    r"""Splits texts at spaces, around punctuation and around CJK ideographs, as BERT's tokenizer does.

    Characters that it drops, such as control characters, are not words. Places are counted in
    characters, as Python does. Bytes that are not UTF-8 are read as U+FFFD.

    Args:
        text: Texts, string [batch].

    Example:

    >>> words = split_words(tf.constant(["Zoë's  café."]))
    >>> [word.decode() for word in words.texts.to_list()[0]]
    ['Zoë', "'", 's', 'café', '.']
    >>> words.starts.to_list(), words.ends.to_list()
    ([[0, 3, 4, 7, 11]], [[3, 4, 5, 11, 12]])
    """
    with tf.device("CPU"):
        readable = tf.strings.unicode_transcode(text, "UTF-8", "UTF-8", errors="replace")
        alone = _any_of_kind(Kind.PUNCTUATION | Kind.IDEOGRAPHS)
        if specials := list(specials):
            # The first choice that fits is taken, so special pieces come before what they begin with.
            alone = f"{any_of(specials)}|{alone}"
        # The op reads a text to its first NUL only, so another character of one byte replaces it.
        whole = tf.strings.regex_replace(readable, r"\x00", _STAND_IN)
        words, *bounds = tf_text.regex_split_with_offsets(
            whole, f"{alone}|{_any_of_kind(Kind.SPACES)}", alone
        )
        places = [_in_characters(readable, each) for each in bounds]
        real = ~tf.strings.regex_full_match(words.flat_values, f"{_any_of_kind(Kind.REMOVED)}*")
        kept = words.with_flat_values(real)
        texts, starts, ends = (tf.ragged.boolean_mask(each, kept) for each in (words, *places))
        return Words(_restored(readable, texts, starts, ends), starts, ends)


def _restored(
    text: tf.Tensor, words: tf.RaggedTensor, starts: tf.RaggedTensor, ends: tf.RaggedTensor
) -> tf.RaggedTensor:
    """Returns words as they are in a text, with NULs instead of their stand-ins."""
    found = tf.strings.regex_full_match(words.flat_values, f"(?s).*{_STAND_IN}.*")

    def of_text() -> tf.Tensor:
        characters = tf.strings.unicode_decode(text, "UTF-8")
        owners = tf.boolean_mask(words.value_rowids(), found)
        firsts = tf.cast(tf.gather(characters.row_splits, owners), tf.int32)
        bounds = (firsts + tf.boolean_mask(each.flat_values, found) for each in (starts, ends))
        places = tf.ragged.range(*bounds)
        spelled = places.with_flat_values(tf.gather(characters.flat_values, places.flat_values))
        made = tf.strings.unicode_encode(spelled, "UTF-8")
        numbers = tf.maximum(tf.cumsum(tf.cast(found, tf.int32)) - 1, 0)
        return tf.where(found, tf.gather(made, numbers), words.flat_values)

    return words.with_flat_values(tf.cond(tf.reduce_any(found), of_text, lambda: words.flat_values))


def _in_characters(text: tf.Tensor, places: tf.RaggedTensor) -> tf.RaggedTensor:
    """Returns places in bytes, ragged int64 [batch, (words)], as int32 places in characters."""
    of_all = tf.io.decode_raw(tf.strings.reduce_join(text), tf.uint8)
    # In UTF-8 the bytes 10xxxxxx continue a character, and all others begin one.
    begins = tf.cast(tf.bitwise.bitwise_and(of_all, 0xC0) != 0x80, tf.int32)
    counts = tf.pad(tf.cumsum(begins), [[1, 0]])
    firsts = tf.gather(tf.cumsum(tf.strings.length(text), exclusive=True), places.value_rowids())
    offsets = tf.cast(places.flat_values, tf.int32)
    return places.with_flat_values(tf.gather(counts, firsts + offsets) - tf.gather(counts, firsts))


@functools.cache
def _any_of_kind(kind: Kind) -> str:
    """Returns a regular expression of RE2 for a character of a kind."""
    return "".join(["[", *map(_span, characters.spans(kind)), "]"])


def _span(ends: tuple[int, int]) -> str:
    return "-".join(rf"\x{{{point:x}}}" for point in ends)


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
