"""The step that removes sentences or lines that occur more than once in the corpus."""

from collections.abc import Iterator, Sequence

import apache_beam as beam
import numpy as np

from firth.corpus.documents.corpus_counts import CorpusCounts
from firth.corpus.documents.document import Document
from firth.corpus.documents.hashing import digest
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
from firth.corpus.text.comparable_text import comparable_words
from firth.recipes.corpus.duplicates import SentenceDuplicatesStep
from firth.segmentation.sentences import split_sentences
from firth.segmentation.words import count_words

# Codes of spans that occur several times: a later occurrence, and the first one.
CUT, FIRST = range(2)
ORDER = ("order", "id_high", "id_low", "position")


class SentenceDuplicates(CorpusStep[SentenceDuplicatesStep]):
    """Removes spans of sentences or lines that occur several times in the corpus, except the first of each.

    The first occurrence is that in the most preferred source, there in the document with the smallest id, and
    there the first in the text. This is C4's rule (Raffel et al. 2019, arXiv:1910.10683, section 2.2) with an
    order that does not depend on workers. A sentence is removed if a span that contains it is removed, unless
    it is also part of the first occurrence of a span. So one complete copy of each repeated span is left. New
    spans that arise where sentences were removed are not compared.

    A document that lost sentences is dropped if it then has `too_few_words` or `too_few_sentences`. Sentences
    of which it had the first occurrence are lost with it.
    """

    reasons = frozenset({"too_few_words", "too_few_sentences"})

    def decide_all(self, documents: Documents, setting: Setting) -> Decisions:  # noqa: D102
        ranks = source_ranks(self._config.source_priority, setting.sources)
        spans = documents | "Spans" >> beam.Map(spans_of, self._config, ranks)
        grouped = {"spans": spans} | GroupTables({"spans": "span"}, setting.grouping)
        marks = grouped | "DecideSpans" >> beam.FlatMap(decide_spans)
        join = JoinMarks(_Cut(self._config), setting.grouping)
        decided = {"documents": documents, "marks": marks} | "Join" >> join
        return decided, documents.pipeline | "NothingElse" >> beam.Create([CorpusCounts()])


def units_of(text: str, unit: str) -> list[str]:
    r"""Returns the sentences or lines of a text, which joined are the text.

    A unit without words is part of the one before it.

    Example:

    >>> units_of("One.\n\n* * *\n\nTwo.", "line")
    ['One.\n\n* * *\n\n', 'Two.']
    """
    units: list[str] = []
    for each in split_sentences(text) if unit == "sentence" else text.splitlines(keepends=True):
        if units and not comparable_words(each):
            units[-1] += each
        else:
            units.append(each)
    return units


def spans_of(
    documents: Sequence[Document], config: SentenceDuplicatesStep, ranks: dict[str, int]
) -> np.ndarray:
    """Returns a table with one row for each span of `config.span` consecutive units with a word in it."""
    digests, owners, positions = [], [], []
    for owner, document in enumerate(documents):
        units = [" ".join(comparable_words(unit)) for unit in units_of(document.text, config.unit)]
        for position in range(len(units) - config.span + 1):
            if any(units[position : position + config.span]):
                digests.append(digest(*units[position : position + config.span]))
                owners.append(owner)
                positions.append(position)
    hashes = np.frombuffer(b"".join(digests), ">u8").reshape(-1, 2).astype(np.uint64)
    high, low = id_halves(documents)
    of = np.array(owners, np.int64)
    return table_of(
        span=hashes[:, 0],
        check=hashes[:, 1],
        order=source_first(documents, ranks)[of],
        id_high=high[of],
        id_low=low[of],
        position=np.array(positions, np.uint64),
    )


class _Cut:
    def __init__(self, config: SentenceDuplicatesStep) -> None:
        self._config = config

    def __call__(self, document: Document, marks: np.ndarray, again: bool) -> Decision:
        if not len(marks) or not (marks["code"] == CUT).any():
            return Keep(document)
        units = units_of(document.text, self._config.unit)
        stays = units_that_stay(marks, len(units), self._config.span)
        text = "".join(unit for unit, stay in zip(units, stays) if stay).strip()
        if count_words(text) < self._config.min_words or not text:
            return Drop("too_few_words")
        if len(split_sentences(text)) < self._config.min_sentences:
            return Drop("too_few_sentences")
        return Keep(document.with_text(text), {f"{self._config.unit}s_cut": int((~stays).sum())})


def decide_spans(element: Group) -> Iterator[np.ndarray]:
    """Yields marks about the spans of a group that occur several times, for `JoinMarks`."""
    group = element[1]
    first = FirstRows(group.of("spans"), "span", ORDER)
    for spans in group.of("spans"):
        best, counts = first.of(spans["span"])
        several = (counts > 1) & (spans["check"] == best["check"])
        spans, best = spans[several], best[several]
        is_first = np.logical_and.reduce([spans[field] == best[field] for field in ORDER])
        code = np.where(is_first, FIRST, CUT).astype(np.uint8)
        columns = {field: spans[field] for field in ("id_high", "id_low", "position")}
        yield table_of(**columns, code=code)


def units_that_stay(marks: np.ndarray, units: int, span: int) -> np.ndarray:
    """Returns which units of a document stay: bool [units].

    A unit goes if a span that contains it is a later occurrence, unless it is also part of the first
    occurrence of a span.
    """
    goes, is_first = (covered(marks["position"][marks["code"] == code], units, span) for code in (CUT, FIRST))
    return ~goes | is_first


def covered(positions: np.ndarray, units: int, span: int) -> np.ndarray:
    """Returns which units are in one of several spans: bool [units].

    Example:

    >>> covered(np.array([1, 2]), 6, 2).tolist()
    [False, True, True, True, False, False]
    """
    starts = np.asarray(positions, np.int64)
    changes = np.zeros(units + 1, np.int64)
    np.add.at(changes, starts, 1)
    np.add.at(changes, np.minimum(starts + span, units), -1)
    return changes.cumsum()[:units] > 0
