"""Writing of cleaned documents to the files of their splits."""

import functools
from collections.abc import Mapping
from operator import attrgetter

import apache_beam as beam
from apache_beam.pvalue import PCollection

from firth.corpus.documents.corpus_counts import IN, KEPT, CorpusCounts, Flow, Sampled
from firth.corpus.documents.counting_fn import CountingFn
from firth.corpus.documents.document import Document
from firth.corpus.documents.split import HashRange, hash_range, join_ranges, split_of
from firth.corpus.documents.steps import Grouping
from firth.corpus.grouping.document_groups import PutDown, grouped_documents
from firth.corpus.grouping.values import Values
from firth.corpus.io.record_files import write_records
from firth.corpus.privacy.excerpts import MetadataScrubber, metadata_steps
from firth.corpus.report.corpus_report import length_bin
from firth.corpus.report.domains import count_domain
from firth.corpus.report.report_rows import LICENCE_STEP, SPLIT_STEP
from firth.corpus.text.language_samples import language_sample
from firth.recipes.corpus.cleaning import Cleaning

# The language of a sampled document is identified by so many characters.
SAMPLED_CHARACTERS = 500


@beam.ptransform_fn
def WriteSplits(
    documents: PCollection[list[Document]], cleaning: Cleaning, folders: Mapping[str, str], grouping: Grouping
) -> PCollection[CorpusCounts]:
    """Writes lists of documents to files of their splits and counts them: lists of documents to counts.

    Each group of documents becomes one file of each split, sorted by id, so that the files depend only on the
    documents and the number of groups.
    """
    write = functools.partial(_write_group, cleaning, dict(folders), grouping.groups)
    hashes = documents | "Hash" >> beam.Map(_hash_range) | beam.CombineGlobally(join_ranges)
    groups = documents | PutDown(grouping)
    return groups | "Write" >> beam.Map(write, beam.pvalue.AsSingleton(hashes))


def _hash_range(documents: list[Document]) -> HashRange:
    return hash_range(document.text for document in documents)


def _write_group(
    cleaning: Cleaning,
    folders: Mapping[str, str],
    groups: int,
    element: tuple[int, Values],
    whole: HashRange,
) -> CorpusCounts:
    documents = [document for batch in grouped_documents(element[1]) for document in batch]
    totals = _measure(documents, "cleaned")
    records: dict[str, list[bytes]] = {}
    scrubber = MetadataScrubber(metadata_steps(cleaning))
    for document in sorted(documents, key=attrgetter("id", "text")):
        split = split_of(document.text, cleaning.split.eval_fraction, whole)
        totals.add(Flow(SPLIT_STEP, document.source, split, document.licence), document.size, document.words)
        count_domain(totals, document, KEPT)
        records.setdefault(split, []).append(scrubber.scrub(document).to_example())
    for split, each in records.items():
        write_records(folders[split], element[0], groups, each)
    return totals


class MeasureRead(CountingFn):
    """Measures documents before cleaning, for the report. It emits only the counts."""

    def process(self, documents: list[Document]) -> None:  # noqa: D102
        self.totals.merge(_measure(documents, "read"))
        for document in documents:
            flow = Flow(LICENCE_STEP, document.source, IN, document.licence)
            self.totals.add(flow, document.size, document.words)
            count_domain(self.totals, document, IN)


def _measure(documents: list[Document], stage: str) -> CorpusCounts:
    totals = CorpusCounts()
    for document in documents:
        totals.histograms[f"{stage}_words", length_bin(document.words)] += 1
        totals.histograms[f"{stage}_characters", length_bin(len(document.text))] += 1
    totals.add_sample(
        stage, (Sampled(each.id, language_sample(each.text, SAMPLED_CHARACTERS)) for each in documents)
    )
    return totals
