"""Rows of packed chunks, and how they are written to disk."""

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np

from firth import features
from firth.corpus.documents.example import Example
from firth.corpus.documents.hashing import hash63


@dataclasses.dataclass(frozen=True)
class Chunk:
    """A document or a part of one.

    Attributes:
        document_key: `hash63` of the document's id.
        number: Number of the part, from 0.
        tokens: int32 [length].
        word_starts: bool [length], True for tokens that begin a word.
        sentence_starts: bool [length], True for tokens that begin a sentence.
        words: object [length], the UTF-8 bytes of each token if tokens are whole words; otherwise None.
        copy: Number of the copy of a repeated document, from 0.
    """

    document_key: int
    number: int
    tokens: np.ndarray
    word_starts: np.ndarray
    sentence_starts: np.ndarray
    words: np.ndarray | None = None
    copy: int = 0

    @property
    def name(self) -> str:
        """A name that is unique to the chunk, also among copies of the same part."""
        repeat = f".{self.copy}" if self.copy else ""
        return f"{self.document_key}.{self.number}{repeat}"


@dataclasses.dataclass(frozen=True, eq=False)
class Row:
    """A row without padding, as `features.row_specs` describes it.

    Its lists are made when they are asked for, since as Python integers they take many times the memory of
    chunks.

    Attributes:
        example_id: A hash of the names of the row's chunks.
        source: Name of the source from which all its documents come.
        chunks: The chunks, in the order of the row.
        labels: Labels by the name of their field, integers or floats.
        details: Details of each record for scores, UTF-8; empty where scores need none.
        found_keys: Keys of its records that were found in a corpus.
    """

    example_id: int
    source: str
    chunks: tuple[Chunk, ...]
    labels: Mapping[str, np.ndarray] = dataclasses.field(default_factory=dict)
    details: tuple[bytes, ...] = ()
    found_keys: tuple[int, ...] = ()

    @property
    def lists(self) -> dict[str, list[int]]:
        """The row's features by name as lists of integers, without source, example id and words."""
        chunks = self.chunks
        return {
            features.RAW_TOKENS: _joined([chunk.tokens for chunk in chunks]),
            features.WORD_STARTS: _joined([chunk.word_starts for chunk in chunks]),
            features.SENTENCE_STARTS: _joined([chunk.sentence_starts for chunk in chunks]),
            features.CHUNK_LENGTHS: [len(chunk.tokens) for chunk in chunks],
            features.DOCUMENT_KEYS: [chunk.document_key for chunk in chunks],
        }

    @property
    def words(self) -> tuple[bytes, ...]:
        """The UTF-8 bytes of each token if tokens are whole words; otherwise empty."""
        parts = [chunk.words.tolist() for chunk in self.chunks if chunk.words is not None]
        return tuple(word for part in parts for word in part)

    @property
    def tokens(self) -> int:
        """The number of tokens in the row."""
        return sum(len(chunk.tokens) for chunk in self.chunks)

    @property
    def document_keys(self) -> frozenset[int]:
        """The keys of the documents that have a part in the row."""
        return frozenset(chunk.document_key for chunk in self.chunks)

    def to_example(self, negative: "Row | None" = None) -> bytes:
        """Returns the row as a serialized tf.train.Example."""
        example = Example()
        feature = example.features.feature
        feature[features.SOURCE].bytes_list.value.append(self.source.encode("utf-8"))
        feature[features.EXAMPLE_ID].int64_list.value.append(self.example_id)
        if words := self.words:
            feature[features.WORDS].bytes_list.value.extend(words)
        if self.details:
            feature[features.RECORD_DETAILS].bytes_list.value.extend(self.details)
        if self.found_keys:
            feature[features.FOUND_KEYS].int64_list.value.extend(self.found_keys)
        for name, values in self.lists.items():
            feature[name].int64_list.value.extend(values)
        for name, labels in self.labels.items():
            of_kind = feature[name].float_list if labels.dtype.kind == "f" else feature[name].int64_list
            of_kind.value.extend(labels.tolist())
        for name, values in (negative.lists if negative else {}).items():
            feature[features.NEGATIVE_PREFIX + name].int64_list.value.extend(values)
        return example.SerializeToString(deterministic=True)


def _joined(parts: list[np.ndarray]) -> list[int]:
    return np.concatenate(parts).astype(np.int64).tolist()


def make_row(
    source: str,
    chunks: Sequence[Chunk],
    labels: Mapping[str, np.ndarray] | None = None,
    details: Sequence[bytes] = (),
    found_keys: Sequence[int] = (),
) -> Row:
    """Returns the row that consists of some chunks."""
    parts = [chunk.name for chunk in chunks]
    return Row(
        hash63("row", source, *parts), source, tuple(chunks), labels or {}, tuple(details), tuple(found_keys)
    )


def pack(sizes: Sequence[int], capacity: int, max_items: int) -> list[list[int]]:
    """Packs items into bins by best-fit decreasing (Johnson 1973, "Near-optimal bin packing algorithms").

    The largest item comes first. Each item goes into the bin in which it leaves the least room, or into a new
    bin if it does not fit any. Ties are broken by the order of the items, so the result depends only on the
    arguments.

    Raises:
        ValueError: if an item is larger than a bin.

    Example:

    >>> pack([3, 6, 4, 7], capacity=10, max_items=8)
    [[3, 0], [1, 2]]
    """
    order = sorted(range(len(sizes)), key=lambda index: (-sizes[index], index))
    return _best_fit(order, sizes, capacity, max_items, len(sizes))


def pack_in_order(sizes: Sequence[int], capacity: int, max_items: int, max_open: int = 64) -> list[list[int]]:
    """Packs items into bins by best fit, in the order that they have.

    Unlike `pack`, it does not bring items of like sizes together: the content of a bin depends on the order
    alone. Few bins are open at once; if there are more, the fullest one is closed.

    Raises:
        ValueError: if an item is larger than a bin.

    Example:

    >>> pack_in_order([3, 6, 4, 7], capacity=10, max_items=8)
    [[0, 1], [2], [3]]
    """
    return _best_fit(range(len(sizes)), sizes, capacity, max_items, max_open)


def _best_fit(
    order: Sequence[int], sizes: Sequence[int], capacity: int, max_items: int, max_open: int
) -> list[list[int]]:
    if sizes and max(sizes) > capacity:
        raise ValueError(f"an item of size {max(sizes)} does not fit a bin of {capacity}")
    bins: list[list[int]] = []
    open_bins = _OpenBins(capacity)
    for item in order:
        size = sizes[item]
        found = open_bins.take(size)
        target, room = found or (len(bins), capacity)
        if found is None:
            bins.append([])
        bins[target].append(item)
        if len(bins[target]) < max_items:
            open_bins.put(target, room - size)
        if open_bins.count > max_open:
            open_bins.take(0)
    return bins


class _OpenBins:
    """Bins by the room that they have left."""

    def __init__(self, capacity: int) -> None:
        self._bins: list[list[int]] = [[] for _ in range(capacity + 1)]
        self._rooms = 0  # Bit i is set if there are bins with i left.
        self.count = 0

    def put(self, number: int, room: int) -> None:
        self._bins[room].append(number)
        self._rooms |= 1 << room
        self.count += 1

    def take(self, size: int) -> tuple[int, int] | None:
        """Takes out the bin with the least room that is at least `size`, and returns its number and room."""
        fitting = self._rooms >> size
        if not fitting:
            return None
        room = size + (fitting & -fitting).bit_length() - 1
        number = self._bins[room].pop()
        if not self._bins[room]:
            self._rooms ^= 1 << room
        self.count -= 1
        return number, room
