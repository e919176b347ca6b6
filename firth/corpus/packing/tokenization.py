"""Tokenization of documents with the beginnings of words and sentences, on Beam."""

import dataclasses
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import apache_beam as beam
import numpy as np

from firth.corpus.documents.batching import group_by_key
from firth.corpus.documents.document import DOCUMENT_BYTES, Document
from firth.corpus.documents.hashing import hash63
from firth.corpus.grouping.values import Part, Values
from firth.segmentation.sentences import spaces_to_next, split_sentences

if TYPE_CHECKING:
    from firth.tokenizers.storage import AnyTokenizer

_NAME = "documents"
# Memory of a word as a Python object.
WORD_BYTES = 2**6
# Number of last tokens by which a sentence is found in its passage, and places to try before and after.
_SAME = 2
_SHIFTS = (0, -1, 1, -2, 2, -3, 3)


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
    """Tokenizes lists of serialized documents to lists of `TokenizedDocument` by group, for `GroupValues`."""

    def __init__(self, tokenizer_folder: str, groups: int) -> None:
        self._tokenizer_folder = tokenizer_folder
        self._groups = groups

    def setup(self) -> None:  # noqa: D102
        from firth.tokenizers import load_tokenizer

        self._tokenizer = load_tokenizer(self._tokenizer_folder)

    def process(self, records: list[bytes]) -> Iterator[Part]:  # noqa: D102
        documents = [Document.from_example(each) for each in records]
        tokenized = tokenize_documents(self._tokenizer, documents)
        groups = group_by_key(tokenized, lambda document: document.key % self._groups)
        for group, members in groups.items():
            yield group, (_NAME, members)


def tokenized_documents(values: Values) -> Iterator[TokenizedDocument]:
    """Yields the documents of a group."""
    for documents in values.of(_NAME):
        yield from documents


def tokenize_documents(tokenizer: "AnyTokenizer", documents: Sequence[Document]) -> list[TokenizedDocument]:
    """Returns the documents as tokens, which are those of each whole text, with sentences marked."""
    from firth.tokenizers.graph.word_bounds import word_starts

    passages = [_passages(document.text, tokenizer.keeps_spaces) for document in documents]
    flat = [passage for each in passages for passage in each]
    tokens, words, bounds = _flat_tokens(tokenizer, ["".join(passage) for passage in flat])
    sentence_starts = np.zeros(len(tokens), bool)
    sentence_starts[bounds[:-1][bounds[1:] > bounds[:-1]]] = True
    inside = _starts_inside(tokenizer, flat, tokens, bounds)
    starts = word_starts(tokenizer, tokens, bounds)
    sentence_starts[inside] = starts[inside] = True
    ends = bounds[np.cumsum([0, *map(len, passages)])]
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


def _passages(text: str, keeps_spaces: bool) -> list[list[str]]:
    """Returns the sentences of a text in passages, which white space separates.

    The tokens of a passage are the same as in the whole text; those of a sentence after `。` may differ. If a
    unigram model has two segmentations of one score (`.` and `..` in `...`), rounding chooses between them.
    """
    sentences = split_sentences(text)
    given = spaces_to_next(sentences) if keeps_spaces else sentences
    passages = [[given[0]]]
    for before, sentence in zip(sentences, given[1:]):
        if before[-1].isspace():
            passages.append([sentence])
        else:
            passages[-1].append(sentence)
    return passages


def _starts_inside(
    tokenizer: "AnyTokenizer", passages: Sequence[Sequence[str]], tokens: np.ndarray, bounds: np.ndarray
) -> np.ndarray:
    """Returns where the sentences after the first one of each passage begin: int64 [sentences].

    Args:
        tokens: int32 [tokens], tokens of all passages.
        bounds: int64 [passages + 1], where the tokens of each passage begin.
    """
    several = [place for place, passage in enumerate(passages) if len(passage) > 1]
    if not several:
        return np.zeros(0, np.int64)
    alone, _, splits = _flat_tokens(tokenizer, [each for place in several for each in passages[place]])
    starts, number = list[int](), 0
    for place in several:
        at, end = int(bounds[place]), int(bounds[place + 1])
        for _ in passages[place][:-1]:
            sentence = alone[splits[number] : splits[number + 1]]
            at = _end_of(sentence, tokens, at, end)
            starts.append(at)
            number += 1
        number += 1
    return np.array([start for start in starts if start < len(tokens)], np.int64)


def _end_of(sentence: np.ndarray, tokens: np.ndarray, start: int, limit: int) -> int:
    """Returns where a sentence ends in the tokens of its passage, which may differ at its edges.

    Args:
        sentence: int32 [length], tokens of the sentence alone.
        tokens: int32 [tokens].
    """
    if not len(sentence):
        return start
    expected, last = start + len(sentence), sentence[-_SAME:]
    for shift in _SHIFTS:
        end = expected + shift
        if start < end <= limit and np.array_equal(tokens[max(start, end - len(last)) : end], last):
            return end
    return min(max(expected, start), limit)


def _flat_tokens(
    tokenizer: "AnyTokenizer", texts: list[str]
) -> tuple[np.ndarray, np.ndarray | None, np.ndarray]:
    """Returns the tokens of all texts, their words if tokens are words, and the index of each first token."""
    ids, words = tokenizer.tokens_and_words(texts)
    found = None if words is None else words.flat_values.numpy()
    return ids.flat_values.numpy(), found, ids.row_splits.numpy()
