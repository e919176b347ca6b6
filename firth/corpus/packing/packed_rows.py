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
        """A name that no other chunk has, not even the same part of another copy."""
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
        details: What scores need of each record of the row, UTF-8; empty where they need nothing.
        found_keys: Keys of its records that a corpus was found to hold.
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
