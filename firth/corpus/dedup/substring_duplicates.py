"""The step that removes stretches of text that occur more than once in the corpus."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import apache_beam as beam
import numpy as np

from firth.corpus.dedup.sentence_duplicates import CUT, decide_spans, units_that_stay
from firth.corpus.documents.coders import Unmeasured
from firth.corpus.documents.corpus_counts import CorpusCounts
from firth.corpus.documents.document import Document
from firth.corpus.documents.steps import CorpusStep, Decision, Drop, Keep, Setting
from firth.corpus.grouping.marks import Decisions, Documents, JoinMarks
from firth.corpus.grouping.tables import (
    FirstRows,
    Group,
    GroupTables,
    id_halves,
    source_first,
    source_ranks,
    table_of,
)
from firth.corpus.text.shingles import mix, powers, word_hashes
from firth.recipes.corpus.duplicates import SubstringDuplicatesStep
from firth.segmentation.words import count_words, word_spans

# Odd, so that it has an inverse modulo 2**64.
_BASE = 0xC2B2AE3D27D4EB4F
_ROUND = 2**16


class SubstringDuplicates(CorpusStep[SubstringDuplicatesStep]):
    """Removes stretches of `window` or more units that occur several times, except the first of each.

    This is the exact substring de-duplication of Lee et al. 2022 (arXiv:2107.06499, section 4.1), by hashes
    instead of a suffix array, so that it runs on many workers. Some of the short n-grams of each text are
    chosen by content (winnowing), such that each window has one; windows around n-grams that occur once are
    not looked at again; all others are compared by 128 bits of their hash. So every window that occurs twice
    is found, wherever it begins, and no other, but for equal hashes of different windows.

    The first occurrence is that in the most preferred source, there in the document with the smallest id, and
    there the first in the text. A unit is cut if a later occurrence contains it, unless it is also part of
    the first occurrence of a window. Stretches that arise where text was cut are not compared.
    """

    reasons = frozenset({"repeated_span", "too_few_words"})

    def decide_all(self, documents: Documents, setting: Setting) -> Decisions:  # noqa: D102
        config, grouping = self._config, setting.grouping
        ranks = source_ranks(config.source_priority, setting.sources)
        anchors = documents | "Anchors" >> beam.Map(anchors_of, config)
        grouped = {"anchors": anchors} | "ByAnchor" >> GroupTables({"anchors": "anchor"}, grouping)
        repeated = grouped | "Repeated" >> beam.FlatMap(repeated_anchors)
        found = {"documents": documents, "marks": repeated} | "Find" >> JoinMarks(
            repeated_positions, grouping
        )
        found.element_type = Unmeasured
        spans = found | "Windows" >> beam.Map(windows_of, config, ranks)
        grouped = {"spans": spans} | "BySpan" >> GroupTables({"spans": "span"}, grouping)
        marks = grouped | "DecideSpans" >> beam.FlatMap(decide_spans)
        decided = {"documents": documents, "marks": marks} | "Join" >> JoinMarks(CutSpans(config), grouping)
        return decided, documents.pipeline | "NothingElse" >> beam.Create([CorpusCounts()])


class _Units(NamedTuple):
    """The units of a text: where each begins, and two hashes of each, which do not depend on one another."""

    starts: np.ndarray
    hashes: np.ndarray
    checks: np.ndarray


def _units_of(text: str, unit: str) -> _Units:
    if unit == "word":
        spans = list(word_spans(text))
        words = [text[start:end] for start, end in spans]
        (hashes, _), (checks, _) = (word_hashes([words], seed) for seed in (1, 2))
        return _Units(np.array([start for start, _ in spans], np.int64), hashes, checks)
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4").astype(np.uint64)
    return _Units(np.arange(len(codes)), mix(codes + np.uint64(1)), mix(codes + np.uint64(2**32)))


def _size_of(text: str, unit: str) -> int:
    """Returns the number of words, or of the characters other than white space."""
    return count_words(text) if unit == "word" else sum(map(len, text.split()))


def anchors_of(documents: Sequence[Document], config: SubstringDuplicatesStep) -> np.ndarray:
    """Returns a table with a row for each chosen n-gram: `anchor`, its hash, and its place.

    The n-grams have half as many units as a window; each window has at least one that is chosen.
    """
    hashes, places = [np.zeros(0, np.uint64)], [np.zeros(0, np.int64)]
    for document in documents:
        grams = rolling_hashes(_units_of(document.text, config.unit).hashes, config.anchor)
        chosen = winnow(grams, config.window - config.anchor + 1)
        hashes.append(grams[chosen])
        places.append(chosen)
    of = np.repeat(np.arange(len(documents)), [len(each) for each in places[1:]])
    high, low = id_halves(documents)
    position = np.concatenate(places).astype(np.uint64)
    return table_of(anchor=np.concatenate(hashes), id_high=high[of], id_low=low[of], position=position)


def repeated_anchors(element: Group) -> Iterator[np.ndarray]:
    """Yields the places of the n-grams of a group that occur several times, as marks for `JoinMarks`."""
    group = element[1]
    first = FirstRows(group.of("anchors"), "anchor", ())
    for anchors in group.of("anchors"):
        _, counts = first.of(anchors["anchor"])
        several = anchors[counts > 1]
        yield table_of(**{name: several[name] for name in ("id_high", "id_low", "position")})


def repeated_positions(document: Document, marks: np.ndarray, again: bool) -> Any:
    """Returns the places of a document's repeated n-grams, or None, as a `decide` of `JoinMarks`."""
    return np.unique(marks["position"]) if len(marks) else None


def windows_of(decided: Any, config: SubstringDuplicatesStep, ranks: dict[str, int]) -> np.ndarray:
    """Returns the windows of documents that have a repeated n-gram, as a table `spans` of `decide_spans`."""
    anchored = [(document, positions) for document, positions in decided if positions is not None]
    documents = [document for document, _ in anchored]
    rows = [_windows_of(document, positions, config) for document, positions in anchored]
    of = np.repeat(np.arange(len(documents)), [len(each[0]) for each in rows])
    span, check, position = (
        np.concatenate([np.zeros(0, np.uint64), *(each[i].astype(np.uint64) for each in rows)])
        for i in range(3)
    )
    high, low = id_halves(documents)
    columns = {"order": source_first(documents, ranks)[of], "id_high": high[of], "id_low": low[of]}
    return table_of(span=span, check=check, **columns, position=position)


def _windows_of(
    document: Document, positions: np.ndarray, config: SubstringDuplicatesStep
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns the two hashes and the place of each window with one of some n-grams."""
    units = _units_of(document.text, config.unit)
    before = config.window - config.anchor
    windows = len(units.hashes) - config.window + 1
    # A window has an n-gram that begins with its own first unit, or up to `before` units later.
    places = np.flatnonzero(_any_within(positions, windows, before))
    spans, checks = (rolling_hashes(each, config.window)[places] for each in (units.hashes, units.checks))
    return spans, checks, places


def _any_within(positions: np.ndarray, windows: int, before: int) -> np.ndarray:
    """Returns bool [windows]: whether one of some places is in [window, window + before]."""
    there = np.zeros(windows + before, np.int64)
    there[positions.astype(np.int64)] = 1
    sums = np.append(0, there.cumsum())
    return sums[before + 1 :] > sums[:windows]


class CutSpans:
    """Decides about a document by the marks of `decide_spans`, as a `decide` of `JoinMarks`."""

    def __init__(self, config: SubstringDuplicatesStep) -> None:
        self._config = config

    def __call__(self, document: Document, marks: np.ndarray, again: bool) -> Decision:  # noqa: D102
        config = self._config
        if not len(marks) or not (marks["code"] == CUT).any():
            return Keep(document)
        if config.action == "drop":
            return Drop("repeated_span")
        starts = _units_of(document.text, config.unit).starts
        stays = units_that_stay(marks, len(starts), config.window)
        ends = np.append(starts[1:], len(document.text))
        changes = np.flatnonzero(np.diff(stays, prepend=~stays[:1])).tolist()
        runs = [(first, last) for first, last in zip(changes, [*changes[1:], len(stays)]) if stays[first]]
        text = "".join(document.text[starts[first] : ends[last - 1]] for first, last in runs).strip()
        if _size_of(text, config.unit) < config.min_words or not text:
            return Drop("too_few_words")
        kept = document.with_text(text)
        counts = {
            "spans_cut": len(changes) - len(runs),
            f"{config.unit}s_cut": int((~stays).sum()),
            "bytes_cut": document.size - kept.size,
        }
        return Keep(kept, counts)


def rolling_hashes(units: np.ndarray, size: int) -> np.ndarray:
    """Returns a hash of each window of `size` consecutive units, in time that does not depend on the size.

    Args:
        units: uint64 [units], a hash of each unit.

    Returns:
        uint64 [units - size + 1], or of none if there are fewer units than a window has.

    Example:

    >>> hashes = rolling_hashes(np.array([3, 5, 8, 3, 5], np.uint64), 2)
    >>> len(hashes), bool(hashes[0] == hashes[3]), bool(hashes[0] == hashes[1])
    (4, True, False)
    """
    count = len(units) - size + 1
    if count < 1:
        return np.zeros(0, np.uint64)
    base_powers, inverses = powers(_BASE, -(-len(units) // _ROUND) * _ROUND)
    sums = np.zeros(len(units) + 1, np.uint64)
    np.cumsum(units * base_powers[: len(units)], out=sums[1:])
    return mix((sums[size:] - sums[:-size]) * inverses[:count])


def winnow(hashes: np.ndarray, window: int) -> np.ndarray:
    """Returns the places of the smallest of each `window` consecutive hashes, the first of equal ones.

    What is chosen within a window depends on its hashes alone, so that windows of the same content have the
    same hash chosen (Schleimer, Wilkerson and Aiken 2003, "Winnowing", section 3). About 2 / (window + 1) of
    the hashes are chosen.

    Args:
        hashes: uint64 [n].

    Returns:
        int64 [chosen], ascending; none if there are fewer hashes than `window`.

    Example:

    >>> winnow(np.array([7, 4, 9, 8, 2], np.uint64), 3).tolist()
    [1, 4]
    """
    if len(hashes) < window:
        return np.zeros(0, np.int64)
    windows = np.lib.stride_tricks.sliding_window_view(hashes, window)
    return np.unique(windows.argmin(axis=1) + np.arange(len(windows)))
