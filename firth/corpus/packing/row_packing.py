"""Packing of a group of tokenized documents into rows."""

import functools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable

import numpy as np

from firth.corpus.documents.hashing import unit_hash
from firth.corpus.packing.rows import Chunk, Row, make_row, pack
from firth.corpus.packing.tokenization import TokenizedDocument
from firth.recipes.tokenizers.tokenizer import Sequences


def pack_rows(
    documents: Iterable[TokenizedDocument], sequences: Sequences, special_tokens: int, raw_length: int
) -> tuple[list[Row], Counter[str]]:
    """Returns the rows that hold all tokens of some documents, sorted by example id, and counts.

    All documents of a row have the same source, and no document is in a row with its own repeat. A chunk has
    at most `raw_length` tokens and takes `special_tokens` more places; the chunks of a row together take at
    most as many places as one of full length. The order of the documents does not matter.

    Args:
        raw_length: Greatest number of tokens in a row before the objective is applied. It is below the
            model's length if the objective adds special tokens, and above it if the objective leaves tokens
            out.
    """
    chunks: dict[tuple[str, int], list[Chunk]] = defaultdict(list)
    counts: Counter[str] = Counter()
    for document in sorted(documents, key=lambda each: (each.key, each.source, each.copy)):
        short = functools.partial(_short_length, document, sequences.short_seq_prob, raw_length)
        chunks[document.source, document.copy] += _chunks(document, raw_length, short, counts)
    rows, capacity = [], raw_length + special_tokens
    for (source, _), pieces in chunks.items():
        sizes = [len(piece.tokens) + special_tokens for piece in pieces]
        for members in pack(sizes, capacity, sequences.max_documents):
            rows.append(make_row(source, [pieces[index] for index in members]))
            counts["padding_tokens"] += capacity - sum(sizes[index] for index in members)
    counts["rows"] += len(rows)
    return sorted(rows, key=lambda row: row.example_id), counts


def _short_length(document: TokenizedDocument, chance: float, max_length: int, number: int) -> int | None:
    """Returns the target length of a chunk, or None for a chunk without a target. A hash decides."""
    name = (str(document.key), str(document.copy), str(number))
    if unit_hash("short sequence", *name) >= chance:
        return None
    return 2 + int(unit_hash("its length", *name) * (max_length - 1))


def _chunks(
    document: TokenizedDocument,
    max_length: int,
    short: Callable[[int], int | None],
    counts: Counter[str],
) -> list[Chunk]:
    lengths, words_cut = chunk_lengths(document.word_starts, document.sentence_starts, max_length, short)
    counts.update(
        documents=1,
        empty_documents=not lengths,
        cut_documents=len(lengths) > 1,
        cut_words=words_cut,
        chunks=len(lengths),
        tokens=sum(lengths),
    )
    chunks, start = [], 0
    for number, length in enumerate(lengths):
        part = slice(start, start + length)
        tokens, words, sentences = document.tokens, document.word_starts, document.sentence_starts
        named = None if document.words is None else document.words[part]
        chunk = Chunk(document.key, number, tokens[part], words[part], sentences[part], named, document.copy)
        chunks.append(chunk)
        start += length
    return chunks


def chunk_lengths(
    word_starts: np.ndarray,
    sentence_starts: np.ndarray,
    max_length: int,
    target_of: Callable[[int], int | None] = lambda number: None,
) -> tuple[list[int], int]:
    """Returns the lengths of the chunks of a document, and the number of words that had to be cut.

    A chunk is as long as possible and ends before a sentence. If a single sentence does not fit, it ends
    before a word, and only if a single word does not fit, inside a word. A chunk with a target ends before
    the first sentence at which it has reached the target, if it fits up to there.

    Args:
        word_starts: bool [length], True for tokens that begin a word.
        sentence_starts: bool [length], True for tokens that begin a sentence.

    Example:

    >>> words = np.array([1, 1, 0, 1, 1, 1], bool)
    >>> sentences = np.array([1, 0, 0, 1, 0, 0], bool)
    >>> chunk_lengths(words, sentences, 4)
    ([3, 3], 0)
    """
    length, start, words_cut = len(word_starts), 0, 0
    lengths: list[int] = []
    while start < length:
        target = target_of(len(lengths))
        end = _first_start(sentence_starts, start + target, start + max_length) if target else 0
        if end:
            lengths.append(end - start)
            start = end
            continue
        if length - start <= max_length:
            lengths.append(length - start)
            break
        end = _last_start(sentence_starts, start, max_length) or _last_start(word_starts, start, max_length)
        if not end:
            end = start + max_length
            words_cut += 1
        lengths.append(end - start)
        start = end
    return lengths, words_cut


def _first_start(starts: np.ndarray, first: int, last: int) -> int:
    """Returns the first index in [first, last] that is a start, or 0."""
    places = np.flatnonzero(starts[first : last + 1])
    return first + int(places[0]) if len(places) else 0


def _last_start(starts: np.ndarray, start: int, max_length: int) -> int:
    """Returns the last index in (start, start + max_length] that is a start, or 0."""
    places = np.flatnonzero(starts[start + 1 : start + max_length + 1])
    return start + 1 + int(places[-1]) if len(places) else 0
