"""Byte-level byte-pair encoding in the TensorFlow graph, on tensorflow-text's `SentencepieceTokenizer`.

SentencePiece merges characters of words as byte-pair encoding merges bytes; so each byte becomes a character,
and the kernel is given a model whose scores are the order of the merges.
Words are split here, and each distinct word of a batch is encoded once. The patterns of GPT-2 and Llama 3 are
regular expressions over bytes, since the graph's read UTF-8 only: letters, numbers and spaces are frozen with
the package, so that ids do not depend on a library's version of Unicode.
"""

import functools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import tensorflow as tf

from firth.tokenizers.graph.byte_pieces import byte_pieces, to_bytes
from firth.tokenizers.graph.characters import read_table
from firth.tokenizers.graph.sentencepiece_model import MergingPiece, ModelKernel, merging_model
from firth.tokenizers.graph.special_marks import any_of

# Characters that no byte becomes: between words, before a special piece, for byte 0, for what is unknown.
_BREAK, _SPECIAL, _ZERO, _UNKNOWN = map(chr, range(0x100, 0x104))
# What the words of special pieces begin with.
SPECIAL_WORD = _SPECIAL.encode()
_NO_PIECE = -1
Spans = Iterable[tuple[int, int]]
_ALL: Spans = ((0, 0xD7FF), (0xE000, 0x10FFFF))
_LINE_ENDS: Spans = ((10, 10), (13, 13))
# The last code points that take one, two and three bytes.
_LAST_OF_SIZE = (0x7F, 0x7FF, 0xFFFF)


def _characters(data: bytes) -> str:
    return data.decode("latin-1").replace("\x00", _ZERO)


def _any_of(pieces: Collection[str]) -> str:
    return any_of(_characters(piece.encode()) for piece in pieces)


class WordSplitter(tf.Module):
    """Text to words, in which each byte is a character."""

    def __init__(
        self,
        alone: Collection[str] = (),
        after_space: Collection[str] = (),
        all_spaces: bool = False,
        pattern: str = "gpt2",
    ) -> None:
        super().__init__()
        self._pattern = PATTERNS[pattern]
        spaces = f"{space()}*" if all_spaces else " ?"
        # One expression, so that the leftmost special piece is found first, whichever it is.
        found = [f"{spaces}{_any_of(after_space)}"] * bool(after_space) + [_any_of(alone)] * bool(alone)
        self._specials, self._groups = "|".join(found), "".join(f"\\{n + 1}" for n in range(len(found)))

    def __call__(self, text: tf.Tensor) -> tf.RaggedTensor:
        """Returns the words of string [batch]: string [batch, (words)], empty ones among them."""
        replace = tf.strings.regex_replace
        text = tf.strings.unicode_transcode(text, "ISO-8859-1", "UTF-8")
        if self._specials:
            text = replace(text, self._specials, f"{_BREAK}{_SPECIAL}{self._groups}{_BREAK}")
        text = replace(text, self._pattern.spaces_before_word(), f"\\1{_BREAK}\\2")
        pattern = f"{_SPECIAL}[^{_BREAK}]*|{self._pattern.words()}"
        text = replace(text, pattern, f"\\0{_BREAK}")
        return tf.strings.split(text, _BREAK)


class BytePairKernel(tf.Module):
    """Text to ids, in a graph that needs nothing but its own constants."""

    def __init__(
        self,
        vocabulary: Sequence[str],
        alone: Collection[str],
        after_space: Collection[str] = (),
        all_spaces: bool = False,
        ranks: Mapping[str, int] | None = None,
        pattern: str = "gpt2",
        whole_words: bool = False,
    ) -> None:
        super().__init__()
        missing = sorted(set(byte_pieces()).difference(vocabulary))
        if missing:
            raise ValueError(f"the vocabulary has no {missing[0]!r}; it needs a piece for each byte")
        special = {*alone, *after_space}
        every = {piece: index for index, piece in enumerate(vocabulary)}
        ranks = every if ranks is None else {**dict.fromkeys(byte_pieces(), 0), **ranks}
        pieces = (
            MergingPiece(_SPECIAL + _characters(piece.encode()), 0, is_special=True)
            if piece in special
            else MergingPiece(_characters(to_bytes(piece)), ranks[piece])
            if piece in ranks
            # No word holds a break.
            else MergingPiece(f"{_BREAK}{index}", 0)
            for piece, index in every.items()
        )
        self._alone, self._after_space = tuple(alone), tuple(after_space)
        self._all_spaces, self._pattern = all_spaces, pattern
        self._merger = ModelKernel(merging_model(pieces, _UNKNOWN))
        self._never_made = None
        if whole_words:
            made = {piece: id for piece, id in every.items() if piece not in special and _is_of_bytes(piece)}
            words = {_characters(to_bytes(piece)): id for piece, id in made.items()}
            self._never_made = _never_made(self._merger, words)

    def __call__(
        self, text: tf.Tensor, begins: tf.Tensor | None = None, asked: Collection[str] = ()
    ) -> tf.RaggedTensor:
        """Tokenizes texts.

        Args:
            text: Texts, string [batch].

        Returns:
            int32 [batch, (pieces)], with int64 row splits.
        """
        alone, after_space = (
            [piece for piece in each if piece in asked] for each in (self._alone, self._after_space)
        )
        words = WordSplitter(alone, after_space, self._all_spaces, self._pattern)(text)
        distinct, index = tf.unique(words.flat_values)
        distinct = tf.strings.regex_replace(distinct, r"\x00", _ZERO)
        ids = self._merger.tokenize(distinct)
        if self._never_made is not None:
            ids = _with_known(ids, self._never_made.lookup(distinct))
        spelled = tf.gather(ids, index)
        splits = tf.gather(spelled.row_splits, words.row_splits)
        return tf.RaggedTensor.from_row_splits(spelled.flat_values, splits, validate=False)


def _is_of_bytes(piece: str) -> bool:
    return set(byte_pieces()).issuperset(piece)


def _never_made(merger: ModelKernel, words: Mapping[str, int]) -> tf.lookup.StaticHashTable | None:
    """Returns the ids of the words that are pieces but that merges do not make; None if merges make all."""
    with tf.init_scope(), tf.device("CPU"):
        made = merger.tokenize(list(words)).to_list()
        never = {word: id for (word, id), ids in zip(words.items(), made, strict=True) if ids != [id]}
        if not never:
            return None
        keys, values = tf.constant(list(never)), tf.constant(list(never.values()), tf.int32)
        return tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(keys, values), _NO_PIECE)


def _with_known(ids: tf.RaggedTensor, known: tf.Tensor) -> tf.RaggedTensor:
    """Returns the ids of words, replaced by the known id of a word if it has one."""
    is_known, lengths = known != _NO_PIECE, ids.row_lengths()
    alone = tf.RaggedTensor.from_row_lengths(
        tf.boolean_mask(known, is_known), tf.cast(is_known, lengths.dtype), validate=False
    )
    others = tf.boolean_mask(ids.flat_values, tf.repeat(tf.logical_not(is_known), lengths))
    others = tf.RaggedTensor.from_row_lengths(
        others, tf.where(is_known, tf.zeros_like(lengths), lengths), validate=False
    )
    return tf.concat([alone, others], axis=1)


def _without(spans: Spans) -> Iterator[tuple[int, int]]:
    """Yields the spans of all characters that are not in `spans`."""
    taken = sorted(spans)
    for first, last in _ALL:
        for start, end in taken:
            if first <= start <= last:
                if first < start:
                    yield first, start - 1
                first = end + 1
        if first <= last:
            yield first, last


def _byte_spans(first: int, last: int) -> Iterator[tuple[tuple[int, int], ...]]:
    """Yields spans of bytes, one for each place, that together are the UTF-8 of first to last."""
    for top in _LAST_OF_SIZE:
        if first <= top < last:
            yield from _byte_spans(first, top)
            yield from _byte_spans(top + 1, last)
            return
    low, high = chr(first).encode(), chr(last).encode()
    for place in range(1, len(low)):
        below = (1 << 6 * place) - 1
        if first & ~below == last & ~below:
            continue
        if first & below:
            middle = first | below
        elif last & below != below:
            middle = (last & ~below) - 1
        else:
            continue
        yield from _byte_spans(first, middle)
        yield from _byte_spans(middle + 1, last)
        return
    yield tuple(zip(low, high))


def _group(spans: list[tuple[int, int]]) -> str:
    return "[{}]".format("".join(f"\\x{{{low:x}}}-\\x{{{high:x}}}" for low, high in spans))


def byte_class(spans: Spans) -> str:
    r"""Returns a regular expression for one character, in UTF-8, of these spans of code points.

    Example:

    >>> byte_class([(ord("a"), ord("c")), (0xE8, 0xE9)])
    '(?:[\\x{61}-\\x{63}]|[\\x{c3}-\\x{c3}][\\x{a8}-\\x{a9}])'
    """
    endings: dict[tuple[tuple[int, int], ...], list[tuple[int, int]]] = {}
    for first, last in spans:
        for *start, end in _byte_spans(first, last):
            endings.setdefault(tuple(start), []).append(end)
    sequences = ("".join(_group([span]) for span in start) + _group(ends) for start, ends in endings.items())
    return f"(?:{'|'.join(sequences)})"


def _spans(*names: str) -> list[tuple[int, int]]:
    return [(first, last) for name in names for first, last in read_table("split_classes")[name]]


def space() -> str:
    """Returns a regular expression for one space of any kind."""
    return byte_class(_spans("spaces"))


class SplitPattern(NamedTuple):
    """A pattern that splits text into words.

    Attributes:
        spaces_before_word: Returns a regular expression for spaces before other text, all but the last as the
            first group. The last of such spaces may belong to the word.
        words: Returns a regular expression for one word, after `spaces_before_word` have been split off.
    """

    spaces_before_word: Callable[[], str]
    words: Callable[[], str]


def _last_space_apart(spaces: Spans) -> str:
    space = byte_class(spaces)
    return f"({space}+)({space}{byte_class(_without(_spans('spaces')))})"


@functools.lru_cache(maxsize=1)
def _spaces_of_gpt2() -> str:
    return _last_space_apart(_spans("spaces"))


@functools.lru_cache(maxsize=1)
def _words_of_gpt2() -> str:
    letters, numbers, spaces = (byte_class(_spans(name)) for name in ("letters", "numbers", "spaces"))
    others = byte_class(_without(_spans("letters", "numbers", "spaces")))
    return f"'s|'t|'re|'ve|'m|'ll|'d| ?{letters}+| ?{numbers}+| ?{others}+|{spaces}+"


@functools.lru_cache(maxsize=1)
def _spaces_of_llama3() -> str:
    # Spaces up to the last end of a line are a word of their own.
    return _last_space_apart(list(_without([*_without(_spans("spaces")), *_LINE_ENDS])))


@functools.lru_cache(maxsize=1)
def _words_of_llama3() -> str:
    letters, numbers, spaces = (byte_class(_spans(name)) for name in ("letters", "numbers", "spaces"))
    others = byte_class(_without(_spans("letters", "numbers", "spaces")))
    before = byte_class(_without([*_spans("letters", "numbers"), *_LINE_ENDS]))
    # Without regard to case, the long s is an s.
    endings = "|".join(["[sS]", byte_class([(0x17F, 0x17F)]), "[tTmMdD]", "[rRvV][eE]", "[lL][lL]"])
    symbols, lines = f" ?{others}+[\\r\\n]*", f"{spaces}*[\\r\\n]+"
    return f"'(?:{endings})|{before}?{letters}+|{numbers}{{1,3}}|{symbols}|{lines}|{spaces}+"


# Those of Radford et al. 2019 (reference code) and of Llama 3, which is that of GPT-4.
PATTERNS = {
    "gpt2": SplitPattern(_spaces_of_gpt2, _words_of_gpt2),
    "llama3": SplitPattern(_spaces_of_llama3, _words_of_llama3),
}
