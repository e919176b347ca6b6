"""Random samples of sources, which follow from a seed and the ids of documents."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from firth.corpus.documents.corpus_counts import DROPPED, KEPT, READ, CorpusCounts, Flow
from firth.corpus.documents.document import Document
from firth.corpus.documents.hashing import unit_hash
from firth.corpus.readers.dropped_documents import DroppedDocument
from firth.recipes.corpus.sources import Source, SourceSample

NOT_SAMPLED = "not_sampled"


class DrawnDocument(NamedTuple):
    """A document that belongs to a sample unless enough others have smaller hashes.

    Attributes:
        hash: Result of `sample_hash`.
        record: The document, serialized.
        bytes: Length of its text in bytes.
        words: Number of its words.
    """

    hash: float
    record: bytes
    bytes: int
    words: int


class DrawnSample:
    """A sample of a given number of documents, of a source or of a part of it.

    Attributes:
        source: Name of the source.
        size: Number of documents.
        candidates: The documents with the smallest hashes; after `draw`, at most `size`.
        totals: Counts of the other documents, as dropped.
    """

    def __init__(self, source: str, size: int) -> None:
        self.source, self.size = source, size
        self.candidates: list[DrawnDocument] = []
        self.totals = CorpusCounts()

    def add(self, candidates: Iterable[DrawnDocument]) -> None:
        """Adds documents, and now and then leaves out those that do not belong to the sample."""
        for candidate in candidates:
            self.candidates.append(candidate)
            if len(self.candidates) >= 2 * self.size:
                self.draw()

    def draw(self) -> "DrawnSample":
        """Leaves out and counts all but the documents with the smallest hashes, and returns itself."""
        ordered = sorted(self.candidates)
        for candidate in ordered[self.size :]:
            flow = Flow(READ, self.source, DROPPED, NOT_SAMPLED)
            self.totals.add(flow, candidate.bytes, candidate.words)
        self.candidates = ordered[: self.size]
        return self

    def counts(self) -> CorpusCounts:
        """Returns the counts of all documents that were added, as kept or as dropped."""
        for candidate in self.candidates:
            self.totals.add(Flow(READ, self.source, KEPT), candidate.bytes, candidate.words)
        return self.totals


def join_drawn(parts: Iterable[DrawnSample]) -> DrawnSample:
    """Returns the sample of a source from the samples of its parts, in whatever order they come."""
    first, *others = parts
    joined = DrawnSample(first.source, first.size)
    for part in (first, *others):
        joined.totals.merge(part.totals)
        joined.add(part.candidates)
    return joined.draw()


class SourceSampler:
    """Takes a sample of the documents of a part of a source.

    Args:
        source: The source.
        totals: Counts of the documents, to which it adds.
        lists_dropped: Whether rows of the documents that are left out are collected.

    Attributes:
        left_out: Rows of documents that do not belong to the sample; of a sample of a number of documents,
            rows of all documents of the part, since other parts decide too.
        drawn: Documents that belong to the sample unless other parts of the source have documents of smaller
            hashes. They are not in `totals`. None unless the sample is a number of documents.
    """

    def __init__(self, source: Source, totals: CorpusCounts, lists_dropped: bool = False) -> None:
        self._source, self._totals, self._sample = source.name, totals, source.sample
        self._lists_dropped = lists_dropped and source.sample is not None
        self.left_out: list[DroppedDocument] = []
        size = source.sample.documents if source.sample else None
        self.drawn = DrawnSample(source.name, size) if size else None

    def add(self, document: Document) -> Iterator[bytes]:
        """Yields the document, serialized, if it is certain to belong to the sample."""
        value = sample_hash(document.id, self._sample) if self._sample else 0.0
        if self.drawn:
            self.drawn.add([DrawnDocument(value, document.to_example(), document.size, document.words)])
            self._list(document)
            return
        outside = value >= (self._sample.fraction or 1.0) if self._sample else False
        fate = (DROPPED, NOT_SAMPLED) if outside else (KEPT, "")
        self._totals.add(Flow(READ, self._source, *fate), document.size, document.words)
        if outside:
            self._list(document)
        else:
            yield document.to_example()

    def _list(self, document: Document) -> None:
        if self._lists_dropped:
            row = DroppedDocument(document.id, document.source, document.uri, READ, NOT_SAMPLED)
            self.left_out.append(row)


def sample_hash(document_id: str, sample: SourceSample) -> float:
    """Returns the hash by which a document belongs to a sample, in [0, 1)."""
    return unit_hash("source sample", str(sample.seed), document_id)
