"""The repetition rules of Gopher."""

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from firth.corpus.filters.language_rules import StepByRules, splitter_of
from firth.corpus.filters.text_measures import characters, duplicates, stripped_lines
from firth.recipes.corpus.filters import GopherRepetitionRules, GopherRepetitionStep

_BLANK_LINES = re.compile(r"\n\s*\n")


class Repeats(NamedTuple):
    """The n-grams of one length that occur more than once in a text.

    Attributes:
        n: Number of words in each n-gram.
        starts: int64 [occurrences]; the index of each occurrence's first word. Occurrences of the same n-gram
            are next to each other.
        groups: int64 [different n-grams]; the index in `starts` of each n-gram's first entry.
        counts: int64 [different n-grams]; the number of occurrences of each n-gram.
    """

    n: int
    starts: np.ndarray
    groups: np.ndarray
    counts: np.ndarray

    @property
    def later(self) -> np.ndarray:
        """The entries of `starts` without the first occurrence of each n-gram: int64 [later occurrences]."""
        firsts = np.minimum.reduceat(self.starts, self.groups)
        return self.starts[self.starts != np.repeat(firsts, self.counts)]


def repeated_ngrams(words: Sequence[str]) -> Iterator[Repeats]:
    """Yields the repeated n-grams of n = 2, 3, ..., until no n-gram of that length is repeated.

    Example:

    >>> for repeats in repeated_ngrams("to be or not to be".split()):
    ...     print(repeats.n, sorted(repeats.starts.tolist()), repeats.later.tolist())
    2 [0, 4] [4]
    """
    # The number of a word is the index of its first occurrence. map() with a counter makes no Python calls.
    first: dict[str, int] = {}
    numbers = np.fromiter(map(first.setdefault, words, itertools.count()), np.int64, len(words))
    if len(first) == len(words):
        return
    is_repeated = np.bincount(numbers)[numbers] > 1
    starts = (is_repeated[:-1] & is_repeated[1:]).nonzero()[0]
    keys = numbers[starts] * len(words) + numbers[starts + 1]
    for n in itertools.count(2):
        if not len(keys):
            return
        order = np.argsort(keys)
        ordered, starts = keys[order], starts[order]
        as_before = np.concatenate(([False], ordered[1:] == ordered[:-1], [False]))
        repeated = as_before[:-1] | as_before[1:]
        starts = starts[repeated]
        if not len(starts):
            return
        opens = ~as_before[:-1][repeated]
        names = opens.cumsum()
        yield Repeats(n, starts, opens.nonzero()[0], np.bincount(names)[1:])
        # An n-gram can repeat only if the n-gram without its last word and that word repeat.
        goes_on = starts + n < len(words)
        goes_on[goes_on] = is_repeated[starts[goes_on] + n]
        starts, names = starts[goes_on], names[goes_on]
        keys = names * len(words) + numbers[starts + n]


class GopherRepetition(StepByRules[GopherRepetitionStep]):
    """Drops documents that repeat lines, paragraphs or n-grams of words.

    The rules are those of Rae et al. 2021 (arXiv:2112.11446, table A1). The reasons are `duplicate_lines`,
    `duplicate_paragraphs`, `duplicate_line_characters`, `duplicate_paragraph_characters`, and for each limit
    on n-grams one such as `top_2_gram` or `duplicate_5_grams`.

    Example:

    >>> from firth.corpus.documents.document import Document
    >>> step = GopherRepetition(GopherRepetitionStep(kind="gopher_repetition"))
    >>> step.decide(Document("1", "so it goes, and so it goes on", "docs", "CC0", "a.txt"))
    Drop(reason='top_2_gram')
    """

    def __init__(self, config: GopherRepetitionStep) -> None:
        super().__init__(config, _Rules)
        self.reasons = frozenset().union(*(rules.reasons for rules in self._rules))


class _Rules:
    """The rules for documents in one language."""

    def __init__(self, config: GopherRepetitionRules) -> None:
        self._config = config
        self._split = splitter_of(config)
        self._tops = {limit.n: limit.max_character_fraction for limit in config.top_ngrams}
        self._all = {limit.n: limit.max_character_fraction for limit in config.duplicate_ngrams}
        self.reasons = frozenset({
            "duplicate_lines",
            "duplicate_paragraphs",
            "duplicate_line_characters",
            "duplicate_paragraph_characters",
            *(f"top_{n}_gram" for n in self._tops),
            *(f"duplicate_{n}_grams" for n in self._all),
        })  # fmt: skip

    def measures(self, text: str) -> dict[str, float]:
        """Returns the values that the rules compare with their thresholds."""
        values = {f"top_{n}_gram_character_fraction": 0.0 for n in self._tops}
        values |= {f"duplicate_{n}_gram_character_fraction": 0.0 for n in self._all}
        for name, parts in _parts_of(text).items():
            repeated = duplicates(parts)
            values[f"duplicate_{name}_fraction"] = len(repeated) / max(len(parts), 1)
            share = characters(repeated) / max(characters(parts), 1)
            values[f"duplicate_{name}_character_fraction"] = share
        lengths, before = _lengths(words := self._split(text))
        for repeats in repeated_ngrams(words):
            n, total = repeats.n, int(before[-1])
            if n > max(*self._tops, *self._all, 0, 0):
                break
            if n in self._tops:
                values[f"top_{n}_gram_character_fraction"] = _top(repeats, before, lengths) / total
            if n in self._all:
                covered = _covered(repeats.later, n, lengths)
                values[f"duplicate_{n}_gram_character_fraction"] = covered / total
        return values

    def broken_by(self, text: str) -> str | None:
        """Returns the reason for which a text is dropped, or None."""
        return self._in_parts(text) or self._in_ngrams(self._split(text))

    def _in_parts(self, text: str) -> str | None:
        config = self._config
        limits = {
            "paragraph": (
                config.max_duplicate_paragraph_fraction,
                config.max_duplicate_paragraph_character_fraction,
            ),
            "line": (config.max_duplicate_line_fraction, config.max_duplicate_line_character_fraction),
        }
        for name, parts in _parts_of(text).items():
            most, most_characters = limits[name]
            repeated = duplicates(parts)
            if len(repeated) > most * len(parts):
                return f"duplicate_{name}s"
            if characters(repeated) > most_characters * characters(parts):
                return f"duplicate_{name}_characters"
        return None

    def _in_ngrams(self, words: Sequence[str]) -> str | None:
        lengths, before = _lengths(words)
        total = int(before[-1])
        for repeats in repeated_ngrams(words):
            n = repeats.n
            limits = [each for table in (self._tops, self._all) for size, each in table.items() if size >= n]
            # Longer repeated n-grams consist of these, so their shares cannot be larger.
            if not limits or _covered(repeats.starts, n, lengths) <= min(limits) * total:
                return None
            if n in self._tops and _top(repeats, before, lengths) > self._tops[n] * total:
                return f"top_{n}_gram"
            if n in self._all and _covered(repeats.later, n, lengths) > self._all[n] * total:
                return f"duplicate_{n}_grams"
        return None


def _parts_of(text: str) -> dict[str, list[str]]:
    paragraphs = [part for part in map(str.strip, _BLANK_LINES.split(text)) if part]
    return {"paragraph": paragraphs, "line": stripped_lines(text)}


def _lengths(words: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Returns the characters of each word, and those before each word and before the end: int64."""
    lengths = np.fromiter(map(len, words), np.int64, len(words))
    before = np.zeros(len(words) + 1, np.int64)
    lengths.cumsum(out=before[1:])
    return lengths, before


def _top(repeats: Repeats, before: np.ndarray, lengths: np.ndarray) -> int:
    """Returns the characters covered by the most frequent n-gram, or by the longest of several.

    Args:
        before: int64 [words + 1], the number of characters before each word and before the end.
        lengths: int64 [words], the number of characters of each word.
    """
    firsts = repeats.starts[repeats.groups]
    sizes = before[firsts + repeats.n] - before[firsts]
    top = int(np.argmax(repeats.counts * before[-1] + sizes))
    places = repeats.starts[repeats.groups[top] :][: repeats.counts[top]]
    return _covered(places, repeats.n, lengths)


def _covered(starts: np.ndarray, n: int, lengths: np.ndarray) -> int:
    """Returns the characters of the words in the n-grams that begin at `starts`, each counted once."""
    words = len(lengths)
    edges = np.bincount(starts, minlength=words + 1) - np.bincount(starts + n, minlength=words + 1)
    return int(lengths[edges[:-1].cumsum() > 0].sum())
