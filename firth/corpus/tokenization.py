"""Documents to tokens with their word and sentence starts, in Beam."""

import dataclasses
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import apache_beam as beam
import numpy as np

from firth.corpus.document import Document
from firth.corpus.hashing import hash63
from firth.corpus.records import pickle_list
from firth.corpus.sentences import split_sentences

if TYPE_CHECKING:
    from firth.tokenizers import WordPieceTokenizer


@dataclasses.dataclass(frozen=True)
class TokenizedDocument:
    """A document in tokens.

    Attributes:
        key: `hash63` of the document's id.
        source: Name of its source.
        tokens: int32 [length].
        word_starts, sentence_starts: bool [length].
    """

    key: int
    source: str
    tokens: np.ndarray
    word_starts: np.ndarray
    sentence_starts: np.ndarray


class Tokenize(beam.DoFn):
    """Lists of serialized documents to (group, list of `TokenizedDocument`, pickled).

    Args:
        tokenizer_folder: Of a saved tokenizer.
        groups: A document's group is its key modulo this.
    """

    def __init__(self, tokenizer_folder: str, groups: int):
        self._tokenizer_folder = tokenizer_folder
        self._groups = groups

    def setup(self) -> None:  # noqa: D102
        from firth.tokenizers import load_tokenizer

        self._tokenizer = load_tokenizer(self._tokenizer_folder)

    def process(self, records: list[bytes]) -> Iterator[tuple[int, bytes]]:  # noqa: D102
        groups: dict[int, list[TokenizedDocument]] = {}
        for document in tokenize_documents(
            self._tokenizer, [Document.from_example(each) for each in records]
        ):
            groups.setdefault(document.key % self._groups, []).append(document)
        for group, members in groups.items():
            yield group, pickle_list(members)


def tokenize_documents(
    tokenizer: "WordPieceTokenizer", documents: Sequence[Document]
) -> list[TokenizedDocument]:
    """Returns the documents in tokens: those of each text as a whole, with its sentences marked."""
    sentences = [split_sentences(document.text) for document in documents]
    ragged = tokenizer.tokenize([sentence for each in sentences for sentence in each])
    tokens, bounds = ragged.flat_values.numpy(), ragged.row_splits.numpy()
    sentence_starts = np.zeros(len(tokens), bool)
    sentence_starts[bounds[:-1][bounds[1:] > bounds[:-1]]] = True
    word_starts = tokenizer.word_start_table[tokens]
    ends = bounds[np.cumsum([0, *map(len, sentences)])]
    return [
        TokenizedDocument(
            hash63(document.id),
            document.source,
            tokens[start:end],
            word_starts[start:end],
            sentence_starts[start:end],
        )
        for document, start, end in zip(documents, ends[:-1], ends[1:])
    ]
