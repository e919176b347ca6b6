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
from firth.tokenizers.graph.characters import CODE_POINTS, Kind

# As integers: operations on members of an enumeration would take longer than all other work here.
_REMOVED, _SPACES, _PUNCTUATION, _IDEOGRAPHS, _ACCENTS = (
    int(kind) for kind in (Kind.REMOVED, Kind.SPACES, Kind.PUNCTUATION, Kind.IDEOGRAPHS, Kind.ACCENTS)
)
# Bits of a value: this one says "replaced", then the offset in the pool of replacements, then 6 of length.
_REPLACED = 1 << 30
_LENGTH_BITS = 6
# Private use characters never survive normalisation, so they are free to replace others.
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
    """Returns the text that replaces a code point in normalisation.

    Example:

    >>> replacement(ord("É"), lowercase=True, split=False)
    'e'
    """
    flags = characters.kinds().item(point)
    if flags & _REMOVED or (lowercase and flags & _ACCENTS):
        return ""
    if flags & _SPACES:
        return " "
    text = characters.lowercase_map().get(point, chr(point)) if lowercase else chr(point)
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
        point: replacement(point, lowercase, split) for point in changed | set(characters.lowercase_map())
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


_VALUE_BIT = 1 << 31
_BLOCK = 256
# Lengths of UTF-8 characters, with their lead bytes and the first code point that is written so.
_LEADS = ((2, range(0xC2, 0xE0), 0x80), (3, range(0xE0, 0xF0), 0x800), (4, range(0xF0, 0xF5), 0x10000))

# A value or 0, then pairs of a label and the number of a child.
Node = tuple[int, tuple[tuple[int, int], ...]]


class _Nodes:
    """Trie nodes, equal ones shared. A node is (value or 0, ((label, child), ...)); 0 is no node."""

    def __init__(self) -> None:
        self.nodes: list[Node] = [(0, ())]
        self._index = {self.nodes[0]: 0}
        self._blocks: dict[bytes, int] = {}

    def add_block(self, values: npt.NDArray[Any], malformed: int) -> int:
        """Adds the node whose children are 64 characters that differ in their last byte only."""
        key = values.tobytes()
        if key not in self._blocks:
            children = [(0x80 + index, self.add(value)) for index, value in enumerate(values.tolist())]
            self._blocks[key] = self.add(malformed, tuple(children))
        return self._blocks[key]

    def add(self, value: int, children: tuple[tuple[int, int], ...] = ()) -> int:
        node = (value, tuple((label, child) for label, child in children if child))
        if node not in self._index:
            self._index[node] = len(self.nodes)
            self.nodes.append(node)
        return self._index[node]


def _below(
    nodes: _Nodes, values: npt.NDArray[Any], first: int, depth: int, minimum: int, malformed: int
) -> int:
    """Adds the node whose characters start at code point `first` and have `depth` more bytes."""
    if depth == 1:
        return nodes.add_block(values[first : first + 64], malformed)
    size = 64 ** (depth - 1)
    children = []
    for index in range(64):
        start = first + index * size
        if minimum < start + size and start < CODE_POINTS:
            children.append((0x80 + index, _below(nodes, values, start, depth - 1, minimum, malformed)))
    return nodes.add(malformed, tuple(children))


def _grow(values: npt.NDArray[Any], malformed: int) -> tuple[list[Node], int]:
    nodes = _Nodes()
    ascii_values = [(point, nodes.add(int(values[point]))) for point in range(1, 0x80)]
    broken = nodes.add(malformed)
    leads = dict.fromkeys(range(0x80, 0x100), broken)
    for length, lead_bytes, minimum in _LEADS:
        for index, lead in enumerate(lead_bytes, start=2 if length == 2 else 0):
            first = index * 64 ** (length - 1)
            leads[lead] = _below(nodes, values, first, length - 1, minimum, malformed)
    return nodes.nodes, nodes.add(0, (*ascii_values, *leads.items()))


def _labels(node: Node) -> list[int]:
    value, children = node
    return [0] * bool(value) + [label for label, _ in children]


class _Slots:
    """Which positions of the array are taken."""

    def __init__(self) -> None:
        # Position 0 is the root's. No two nodes share a base, or one would find the other's children.
        self.taken = bytearray([1]) + bytearray(_BLOCK - 1)
        self.bases: set[int] = set()
        self.next_base = 1

    def place(self, labels: list[int]) -> int:
        """Returns the next base at which all labels fall on free positions, and takes them."""
        while not self._fits(self.next_base, labels):
            self.next_base += 1
        self.bases.add(self.next_base)
        for label in labels:
            self.taken[self.next_base ^ label] = 1
        return self.next_base

    def _fits(self, base: int, labels: list[int]) -> bool:
        while len(self.taken) < (base | 0xFF) + 1:
            self.taken.extend(bytes(_BLOCK))
        return base not in self.bases and not any(self.taken[base ^ label] for label in labels)


def build_double_array(values: npt.NDArray[Any], malformed: int) -> npt.NDArray[Any]:
    """Returns the trie that maps each code point's UTF-8 bytes to its value.

    Returns:
        uint32 [units], a multiple of 256.
    """
    nodes, root = _grow(values, malformed)
    slots = _Slots()
    labels = [_labels(node) for node in nodes]
    inner = [index for index in range(1, len(nodes)) if len(labels[index]) > 1]
    bases = {
        index: slots.place(labels[index]) for index in sorted(inner, key=lambda index: -len(labels[index]))
    }
    # Nodes of a single child or value are many: they fill the gaps that the others left.
    slots.next_base = 1
    bases |= {index: slots.place(labels[index]) for index in range(1, len(nodes)) if index not in bases}
    units = np.zeros(len(slots.taken), np.uint32)
    units[0] = bases[root] << 10
    for index, base in bases.items():
        value, children = nodes[index]
        if value:
            units[base] = value | _VALUE_BIT
        for label, child in children:
            position = base ^ label
            units[position] = label | bool(nodes[child][0]) << 8 | (position ^ bases[child]) << 10
    return units
