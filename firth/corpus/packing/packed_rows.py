"""Rows of packed chunks, and their form on disk."""

import dataclasses
from collections.abc import Sequence

import numpy as np

from firth import features
from firth.corpus.documents.example import Example
from firth.corpus.documents.hashing import hash63


@dataclasses.dataclass(frozen=True)
class Chunk:
    """A document or a part of one.

    Attributes:
        document_key: `hash63` of the document's id.
        number: Which part, from 0.
        tokens: int32 [length].
        word_starts, sentence_starts: bool [length].
        words: Each token's bytes, object [length], where tokens are whole words; otherwise None.
        copy: Which of the document's repeats, from 0.
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
        """Tells it from all others, its repeats among them."""
        repeat = f".{self.copy}" if self.copy else ""
        return f"{self.document_key}.{self.number}{repeat}"


@dataclasses.dataclass(frozen=True, eq=False)
class Row:
    """One row, as `features.row_specs` describes it, without padding.

    Its lists are made where they are asked for: as Python's integers they take many times the chunks' room.

    Attributes:
        example_id: A hash of what is in the row.
        source: That all its documents come from.
        chunks: One after another.
    """

    example_id: int
    source: str
    chunks: tuple[Chunk, ...]

    @property
    def lists(self) -> dict[str, list[int]]:
        """The other fields of a row, by name, as lists of integers."""
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
        """Each token's bytes, where tokens are whole words; otherwise empty."""
        parts = [chunk.words.tolist() for chunk in self.chunks if chunk.words is not None]
        return tuple(word for part in parts for word in part)

    @property
    def tokens(self) -> int:
        """How many it has."""
        return sum(len(chunk.tokens) for chunk in self.chunks)

    @property
    def document_keys(self) -> frozenset[int]:
        """The documents that have a part in this row."""
        return frozenset(chunk.document_key for chunk in self.chunks)

    def to_example(self, partner: "Row | None" = None) -> bytes:
        """Returns a serialized tf.train.Example; the partner's lists have names with `partner_` before."""
        example = Example()
        feature = example.features.feature
        feature[features.SOURCE].bytes_list.value.append(self.source.encode("utf-8"))
        feature[features.EXAMPLE_ID].int64_list.value.append(self.example_id)
        if words := self.words:
            feature[features.WORDS].bytes_list.value.extend(words)
        for name, values in self.lists.items():
            feature[name].int64_list.value.extend(values)
        for name, values in (partner.lists if partner else {}).items():
            feature[features.PARTNER_PREFIX + name].int64_list.value.extend(values)
        return example.SerializeToString(deterministic=True)


def _joined(parts: list[np.ndarray]) -> list[int]:
    return np.concatenate(parts).astype(np.int64).tolist()


def make_row(source: str, chunks: Sequence[Chunk]) -> Row:
    """Returns the row that holds some chunks of one source, one after another."""
    parts = [chunk.name for chunk in chunks]
    return Row(hash63("row", source, *parts), source, tuple(chunks))
