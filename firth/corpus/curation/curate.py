"""Cleaning of documents into train and eval splits with a report."""

import functools
from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any

import apache_beam as beam
from apache_beam.pvalue import AsSingleton, PCollection

from firth import storage
from firth.corpus.curation.clean import Clean
from firth.corpus.curation.cleaned_files import CONTINUED, STATED, CleanFiles, first_steps, measure
from firth.corpus.documents.corpus_counts import DROPPED, KEPT, CorpusCounts, Flow, merge_counts
from firth.corpus.documents.document import Document
from firth.corpus.documents.split import HashRange, hash_range, join_ranges, split_of
from firth.corpus.documents.steps import CORPUS_COUNTS, Grouping
from firth.corpus.grouping.marks import SpillDocuments, grouped_documents
from firth.corpus.grouping.repeated_ids import RepeatedIds
from firth.corpus.grouping.values import Values, grouping_for
from firth.corpus.io.records import Patterns, remove_leftovers, write_records
from firth.corpus.privacy.excerpts import MetadataScrubber, metadata_steps, scrubber_for
from firth.corpus.readers.dropped_documents import DROPPED_FOLDER
from firth.corpus.readers.read_sources import (
    STEP,
    list_undecoded,
    list_unstated_keys,
    read_source_counts,
    source_names,
    sources_with_ids,
)
from firth.corpus.report.corpus_report import (
    SPLIT_STEP,
    build_report,
    check_report,
    measure_held_out,
)
from firth.corpus.report.domains import (
    DOMAINS_FOLDER,
    LargestDomains,
    SumDomains,
    TakeLargest,
    WriteDomains,
    count_domain,
    domain_rows,
)
from firth.recipes.corpus.cleaning import Cleaning, step_names
from firth.storage import read_json, write_json

REPORT_FILE = "corpus_report.json"
SCRATCH_FOLDER = "scratch"


def curate(
    make_pipeline: Callable[[], beam.Pipeline],
    corpus_folder: str,
    corpus_patterns: Patterns,
    cleaning: Cleaning,
    split_folders: Mapping[str, str],
    report_folder: str,
    results_folder: str = "",
) -> dict[str, Any]:
    """Cleans a corpus, splits it and writes the report.

    Args:
        make_pipeline: Returns a new Beam pipeline.
        corpus_folder: Folder to which `ReadSources` wrote its counts.
        corpus_patterns: Path patterns of the TFRecord files of documents.
        cleaning: The steps, the split and the limits of the recipe.
        split_folders: Folders of the documents of "train" and of "eval". Files of an earlier call are removed
            from them.
        report_folder: Folder of `corpus_report.json`, of the files of `WriteDomains`, and with
            `cleaning.list_dropped` of those of `WriteDropped`.
        results_folder: Folder of the results of `CleanFiles` for each file, which is removed when the corpus
            is cleaned; after a kill, the next call with the same folder continues with the other files. If it
            is empty, nothing is kept.

    Returns:
        The report, as `build_report` describes it, and under `held_out`, `domains`, `unstated_keys` and
        `undecoded` the results of the functions that measure and list them. After a kill it has
        `continued_files` too, the number of files whose results an earlier call has left.

    Raises:
        EmptyCorpusError: if no document is left, or one of the splits has no document.
        CountMismatchError: if documents were lost between the steps.
    """
    path, scratch = f"{report_folder}/{REPORT_FILE}", f"{report_folder}/{SCRATCH_FOLDER}"
    domain_files = f"{report_folder}/{DOMAINS_FOLDER}"
    storage.remove(domain_files)
    storage.remove(f"{report_folder}/{DROPPED_FOLDER}")
    remove_leftovers(scratch, split_folders)
    grouping = grouping_for(corpus_patterns, scratch)
    try:
        with make_pipeline() as pipeline:
            stating = sources_with_ids(corpus_folder)
            of_files = pipeline | "Files" >> CleanFiles(corpus_patterns, cleaning, stating, results_folder)
            dropped = scrubber_for(cleaning) if cleaning.list_dropped else None
            clean = Clean(
                cleaning.steps,
                source_names(corpus_folder),
                report_folder,
                grouping,
                dropped,
                cleaning.measure,
                len(first_steps(cleaning).steps),
                of_files[DROPPED] if cleaning.list_dropped else None,
            )
            cleaned, partial_totals = of_files.documents | "Clean" >> clean
            written = cleaned | "Split" >> WriteSplits(cleaning, split_folders, grouping)
            partial_totals += [written, of_files[CORPUS_COUNTS]]
            if stating:
                partial_totals.append(of_files[STATED] | "RepeatedIds" >> RepeatedIds(stating, grouping))
            totals = partial_totals | "Flatten" >> beam.Flatten()
            by_domain = totals | "SumDomains" >> SumDomains()
            _ = by_domain | "WriteDomains" >> WriteDomains(
                domain_files, grouping.groups, scrubber_for(cleaning)
            )
            domains = AsSingleton(by_domain | "TakeLargest" >> TakeLargest())
            read, warnings = read_source_counts(corpus_folder), _warnings(corpus_folder)
            _ = (
                totals
                | "Sum" >> beam.CombineGlobally(merge_counts)
                | "Report" >> beam.Map(_write_report, path, read, warnings, cleaning, domains)
            )
    finally:
        storage.remove(scratch)
    if results_folder:
        storage.remove(results_folder)
    report = read_json(path)
    check_report(report)
    return report


def _write_report(
    totals: CorpusCounts,
    path: str,
    read: CorpusCounts,
    warnings: dict[str, list[str]],
    cleaning: Cleaning,
    domains: LargestDomains,
) -> None:
    steps = step_names(cleaning.steps)
    # There are no counts of reading for a corpus that ReadSources did not make.
    if read.documents:
        steps = [STEP, *steps]
        totals = merge_counts([totals, read])
    continued = totals.counts.pop(CONTINUED, 0)
    scrubber = scrubber_for(cleaning)
    report = build_report(totals, steps, scrubber)
    report["held_out"] = measure_held_out(report["splits"], cleaning.split.eval_fraction)
    report["domains"] = domain_rows(domains, scrubber)
    if continued:
        report["continued_files"] = continued
    write_json(path, {**report, **warnings})


def _warnings(corpus_folder: str) -> dict[str, list[str]]:
    return {"unstated_keys": list_unstated_keys(corpus_folder), "undecoded": list_undecoded(corpus_folder)}


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
    groups = documents | SpillDocuments(grouping)
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
    totals = CorpusCounts()
    measure(documents, "cleaned", totals)
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
