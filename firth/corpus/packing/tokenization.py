"""Tokenization of documents with the beginnings of words and sentences, on Beam."""

import dataclasses
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import apache_beam as beam
import numpy as np

from firth.corpus.documents.batching import by_key
from firth.corpus.documents.document import DOCUMENT_BYTES, Document
from firth.corpus.documents.hashing import hash63
from firth.corpus.grouping.values import Part, Values
from firth.corpus.text.sentences import spaces_to_next, split_sentences

if TYPE_CHECKING:
    from firth.tokenizers.storage import AnyTokenizer

_NAME = "documents"
# Memory of a word as a Python object.
WORD_BYTES = 2**6


@dataclasses.dataclass(frozen=True)
class TokenizedDocument:
    """A tokenized document.

    Attributes:
        key: `hash63` of the document's id.
        source: Name of the document's source.
        tokens: int32 [length].
        word_starts: bool [length], True for tokens that begin a word.
        sentence_starts: bool [length], True for tokens that begin a sentence.
        words: object [length], the UTF-8 bytes of each token if tokens are whole words; otherwise None.
        size: Length of the text in bytes of UTF-8.
        copy: Number of the copy of a document that a mixture repeats, from 0.
    """

    key: int
    source: str
    tokens: np.ndarray
    word_starts: np.ndarray
    sentence_starts: np.ndarray
    words: np.ndarray | None = None
    size: int = 0
    copy: int = 0

    @property
    def held_bytes(self) -> int:
        """An estimate of the memory that the document takes, in bytes."""
        held = self.tokens.nbytes + self.word_starts.nbytes + self.sentence_starts.nbytes + DOCUMENT_BYTES
        return held if self.words is None else held + WORD_BYTES * len(self.words)


class Tokenize(beam.DoFn):
    """Tokenizes lists of serialized documents to lists of `TokenizedDocument` by group, for `GroupValues`.

    Args:
        tokenizer_folder: Folder of a saved tokenizer.
        groups: Number of groups. The group of a document is its key modulo this number.
    """

    def __init__(self, tokenizer_folder: str, groups: int) -> None:
        self._tokenizer_folder = tokenizer_folder
        self._groups = groups

    def setup(self) -> None:  # noqa: D102
        from firth.tokenizers import load_tokenizer

        self._tokenizer = load_tokenizer(self._tokenizer_folder)

    def process(self, records: list[bytes]) -> Iterator[Part]:  # noqa: D102
        documents = [Document.from_example(each) for each in records]
        tokenized = tokenize_documents(self._tokenizer, documents)
        groups = by_key(tokenized, lambda document: document.key % self._groups)
        for group, members in groups.items():
            yield group, (_NAME, members)


def tokenized_documents(values: Values) -> Iterator[TokenizedDocument]:
    """Yields the documents of a group.

    Args:
        values: The values of a group, which come from `Tokenize`.
    """
    for documents in values.of(_NAME):
        yield from documents


def tokenize_documents(tokenizer: "AnyTokenizer", documents: Sequence[Document]) -> list[TokenizedDocument]:
    """Returns the documents as tokens, which are those of each whole text, with sentences marked.

    Args:
        tokenizer: A tokenizer, as `firth.tokenizers.load_tokenizer` returns it.
        documents: A batch of documents.
    """
    from firth.tokenizers.graph.word_bounds import word_starts

    sentences = [split_sentences(document.text) for document in documents]
    if tokenizer.keeps_spaces:
        sentences = [spaces_to_next(each) for each in sentences]
    tokens, words, bounds = _flat_tokens(tokenizer, [sentence for each in sentences for sentence in each])
    sentence_starts = np.zeros(len(tokens), bool)
    sentence_starts[bounds[:-1][bounds[1:] > bounds[:-1]]] = True
    starts = word_starts(tokenizer, tokens, bounds)
    ends = bounds[np.cumsum([0, *map(len, sentences)])]
    return [
        TokenizedDocument(
            hash63(document.id),
            document.source,
            tokens[start:end],
            starts[start:end],
            sentence_starts[start:end],
            None if words is None else words[start:end],
            document.size,
        )
        for document, start, end in zip(documents, ends[:-1], ends[1:])
    ]


def _flat_tokens(
    tokenizer: "AnyTokenizer", texts: list[str]
) -> tuple[np.ndarray, np.ndarray | None, np.ndarray]:
    """Returns the tokens of all texts, their words if tokens are words, and the index of each first token."""
    ids, words = tokenizer.tokens_and_words(texts)
    found = None if words is None else words.flat_values.numpy()
    return ids.flat_values.numpy(), found, ids.row_splits.numpy()
