"""BERT's normalisation as a model of tensorflow-text's `FastBertNormalizer`.

The kernel's own models case-fold and keep what the reference drops. These are built from the frozen table of
`characters`, so the kernel's speed comes with the reference's result.
"""

import functools
from collections.abc import Mapping
from typing import Any

import flatbuffers
import numpy as np
import numpy.typing as npt

from firth.tokenizers.graph import characters
from firth.tokenizers.graph.characters import Kind
from firth.tokenizers.graph.double_array import build_double_array

# As integers: operations on members of an enumeration would take longer than all other work here.
_REMOVED, _SPACES, _PUNCTUATION, _IDEOGRAPHS, _ACCENTS = (
    int(kind) for kind in (Kind.REMOVED, Kind.SPACES, Kind.PUNCTUATION, Kind.IDEOGRAPHS, Kind.ACCENTS)
)
# Of a value: this bit says "replaced", then the offset in the pool of replacements, then 6 bits of length.
_REPLACED = 1 << 30
_LENGTH_BITS = 6
# Private use characters never survive normalisation, so they are free to stand for others.
_FIRST_STAND_IN = 0xF0000
# A control character that text for the kernel keeps, for the caller to mark special pieces with.
SPECIAL_MARK = "\x80"


@functools.lru_cache(maxsize=1)
def stand_ins() -> dict[int, str]:
    """Returns the characters that the kernel would split off a word, each with its replacement.

    The same replacement is made in the vocabulary given to the kernel, so that users never see it.
    """
    points = np.flatnonzero(characters.kinds() & Kind.SPLIT_BY_KERNEL)
    return {int(point): chr(_FIRST_STAND_IN + index) for index, point in enumerate(points)}


def replacement(point: int, lowercase: bool, split: bool) -> str:
    """Returns the text that normalisation puts in the place of a code point.

    Example:

    >>> replacement(ord("É"), lowercase=True, split=False)
    'e'
    """
    flags = characters.kinds().item(point)
    if flags & _REMOVED or (lowercase and flags & _ACCENTS):
        return ""
    if flags & _SPACES:
        return " "
    text = characters.lowercased().get(point, chr(point)) if lowercase else chr(point)
    rendered = "".join(_render(character, split) for character in text)
    return f" {rendered} " if flags & _IDEOGRAPHS and text != chr(point) else rendered


def _render(character: str, split: bool) -> str:
    point = ord(character)
    if characters.kinds().item(point) & _PUNCTUATION and (split or point > 0x7F):
        return f" {character} "
    return character if split else stand_ins().get(point, character)


@functools.lru_cache(maxsize=4)
def build_normalizer_model(lowercase: bool, split: bool = False) -> npt.NDArray[Any]:
    """Returns a model for `tf_text.FastBertNormalizer(model_buffer=...)`: uint8 [bytes].

    Bytes that are not valid UTF-8 are dropped, as are the characters that they would decode to.
    """
    kinds = characters.kinds()
    removed = np.flatnonzero((kinds & Kind.REMOVED) > 0).tolist()
    changed = set(np.flatnonzero((kinds & ~np.uint8(Kind.REMOVED | Kind.IDEOGRAPHS)) > 0).tolist())
    replaced = dict.fromkeys(removed, "")
    replaced |= {
        point: replacement(point, lowercase, split) for point in changed | set(characters.lowercased())
    }
    del replaced[ord(SPECIAL_MARK)]
    return build_replacing_model(replaced, lowercase)


def build_replacing_model(replaced: Mapping[int, str], lowercase: bool = False) -> npt.NDArray[Any]:
    """Returns a model for `FastBertNormalizer` that replaces characters one by one: uint8 [bytes].

    Bytes that are not valid UTF-8 are dropped.
    """
    values, pool = _encode(replaced)
    builder = flatbuffers.Builder(0)
    units = builder.CreateNumpyVector(build_double_array(values, malformed=_REPLACED))
    strings = builder.CreateByteVector(pool)
    builder.StartObject(4)
    builder.PrependBoolSlot(0, lowercase, False)
    builder.PrependUOffsetTRelativeSlot(1, units, 0)
    builder.PrependInt32Slot(2, int(values[0]), 0)
    builder.PrependUOffsetTRelativeSlot(3, strings, 0)
    builder.Finish(builder.EndObject())
    return np.frombuffer(bytes(builder.Output()), np.uint8)


def _encode(replaced: Mapping[int, str]) -> tuple[npt.NDArray[Any], bytes]:
    """Returns the value of each code point, int64 [0x110000], and the pool of replacements."""
    values = np.zeros(characters.CODE_POINTS, np.int64)
    pool, offsets = bytearray(), {b"": 0}
    for point, text in sorted(replaced.items()):
        encoded = text.encode()
        if text == chr(point):
            continue
        if encoded not in offsets:
            offsets[encoded] = len(pool)
            pool += encoded
        values[point] = _REPLACED | offsets[encoded] << _LENGTH_BITS | len(encoded)
    return values, bytes(pool)
