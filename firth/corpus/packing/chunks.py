"""Cutting of long documents into chunks that fit a row."""

from collections.abc import Callable

import numpy as np


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
