"""Rows of packed chunks, and their form on disk."""

import dataclasses
from collections.abc import Sequence

import numpy as np

from firth import features
from firth.corpus.example import Example
from firth.corpus.hashing import hash63

LISTS = (
    features.RAW_TOKENS,
    features.WORD_STARTS,
    features.SENTENCE_STARTS,
    features.CHUNK_LENGTHS,
    features.DOCUMENT_KEYS,
)


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


@dataclasses.dataclass(frozen=True)
class Row:
    """One row, as `features.row_specs` describes it, without padding.

    Attributes:
        example_id: A hash of what is in the row.
        source: That all its documents come from.
        lists: The other fields of a row, by name, as lists of integers.
        words: Each token's bytes, where tokens are whole words; otherwise empty.
    """

    example_id: int
    source: str
    lists: dict[str, list[int]]
    words: tuple[bytes, ...] = ()

    @property
    def document_keys(self) -> frozenset[int]:
        """The documents that have a part in this row."""
        return frozenset(self.lists[features.DOCUMENT_KEYS])

    def to_example(self, partner: "Row | None" = None) -> bytes:
        """Returns a serialized tf.train.Example; the partner's lists have names with `partner_` before."""
        example = Example()
        feature = example.features.feature
        feature[features.SOURCE].bytes_list.value.append(self.source.encode("utf-8"))
        feature[features.EXAMPLE_ID].int64_list.value.append(self.example_id)
        if self.words:
            feature[features.WORDS].bytes_list.value.extend(self.words)
        for name in LISTS:
            feature[name].int64_list.value.extend(self.lists[name])
            if partner:
                feature[features.PARTNER_PREFIX + name].int64_list.value.extend(partner.lists[name])
        return example.SerializeToString(deterministic=True)


def make_row(source: str, chunks: Sequence[Chunk]) -> Row:
    """Returns the row that holds some chunks of one source, one after another."""
    parts = [chunk.name for chunk in chunks]
    return Row(
        hash63("row", source, *parts),
        source,
        {
            features.RAW_TOKENS: np.concatenate([chunk.tokens for chunk in chunks]).tolist(),
            features.WORD_STARTS: np.concatenate([chunk.word_starts for chunk in chunks])
            .astype(int)
            .tolist(),
            features.SENTENCE_STARTS: np.concatenate([chunk.sentence_starts for chunk in chunks])
            .astype(int)
            .tolist(),
            features.CHUNK_LENGTHS: [len(chunk.tokens) for chunk in chunks],
            features.DOCUMENT_KEYS: [chunk.document_key for chunk in chunks],
        },
        tuple(word for chunk in chunks if chunk.words is not None for word in chunk.words.tolist()),
    )
