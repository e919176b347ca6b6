"""Held-out sentences with one word masked, for the model to fill."""

import dataclasses
import random
import re
from collections.abc import Iterable, Iterator, Sequence

MASK = "[MASK]"
CONTINUATION = "##"
MIN_PIECES, MAX_PIECES = 8, 32
MIN_LETTERS = 3


@dataclasses.dataclass(frozen=True)
class HeldOutRow:
    """One packed row of the eval split.

    Attributes:
        example_id: Id of the row.
        source: Name of the row's source.
        tokens: Ids of its tokens.
        sentence_starts: Flags, 1 where a sentence begins.
        chunk_lengths: Tokens of each chunk.
    """

    example_id: int
    source: str
    tokens: Sequence[int]
    sentence_starts: Sequence[int]
    chunk_lengths: Sequence[int]


@dataclasses.dataclass(frozen=True)
class MaskedSentence:
    """A sentence around a masked word.

    Attributes:
        before: Text before the masked word.
        answer: Word that is masked.
        after: Text after the masked word.
        source: Name of the sentence's source.

    Example:

    >>> MaskedSentence("the", "cat", "sat.", "books").text
    'the [MASK] sat.'
    """

    before: str
    answer: str
    after: str
    source: str

    @property
    def text(self) -> str:
        """The sentence that the model is asked about."""
        return f"{self.before} {MASK} {self.after}".strip()


def masked_sentences(
    rows: Iterable[HeldOutRow], vocabulary: Sequence[str], seed: int
) -> Iterator[MaskedSentence]:
    """Yields at most one masked sentence of each row.

    Sentence and word are drawn by a hash of the seed and the row's id: whole words of one piece and of at
    least three letters, in sentences of 8 to 32 pieces without special ones.
    """
    for row in rows:
        choices = [
            (sentence, position)
            for sentence in _sentences(row, vocabulary)
            for position in _maskable(sentence)
        ]
        if choices:
            sentence, position = random.Random(f"{seed}/{row.example_id}").choice(choices)
            before, after = join_pieces(sentence[:position]), join_pieces(sentence[position + 1 :])
            yield MaskedSentence(before, sentence[position], after, row.source)


def plain_sentences(
    rows: Iterable[HeldOutRow], vocabulary: Sequence[str], seed: int
) -> Iterator[tuple[str, str]]:
    """Yields at most one sentence of each row, drawn by a hash of seed and row id, and its source."""
    for row in rows:
        fit = [sentence for sentence in _sentences(row, vocabulary) if _is_fit(sentence)]
        if fit:
            yield join_pieces(random.Random(f"{seed}/{row.example_id}").choice(fit)), row.source


def join_pieces(pieces: Sequence[str]) -> str:
    """Returns pieces as text that the tokenizer splits into the same pieces again.

    Example:

    >>> join_pieces(["the", "token", "##izer", "ends", "."])
    'the tokenizer ends.'
    """
    text = " ".join(pieces).replace(f" {CONTINUATION}", "").removeprefix(CONTINUATION)
    return re.sub(r" ([.,;:!?)])", r"\1", text)


def _sentences(row: HeldOutRow, vocabulary: Sequence[str]) -> Iterator[list[str]]:
    chunk_ends, total = set(), 0
    for length in row.chunk_lengths:
        total += length
        chunk_ends.add(total)
    pieces: list[str] = []
    for index, (token, starts) in enumerate(zip(row.tokens, row.sentence_starts)):
        if pieces and (starts or index in chunk_ends):
            yield pieces
            pieces = []
        pieces.append(vocabulary[token])
    yield pieces


def _maskable(sentence: Sequence[str]) -> list[int]:
    if not _is_fit(sentence):
        return []
    following = [*sentence[1:], ""]
    return [
        position
        for position, (piece, after) in enumerate(zip(sentence, following))
        if piece.isalpha() and len(piece) >= MIN_LETTERS and not _continues_word(after)
    ]


def _continues_word(piece: str) -> bool:
    """Returns true if a piece is part of the word before it; a mark without a space before it is not."""
    body = piece.removeprefix(CONTINUATION)
    return body != piece and (body[:1].isalnum() or len(body) > 1)


def _is_fit(sentence: Sequence[str]) -> bool:
    return MIN_PIECES <= len(sentence) <= MAX_PIECES and not any(_is_special(piece) for piece in sentence)


def _is_special(piece: str) -> bool:
    return piece.startswith("[") and piece.endswith("]") and len(piece) > 1
