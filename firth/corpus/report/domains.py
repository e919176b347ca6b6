"""Counts of documents by the domain of their pages, on Beam."""

import functools
import gzip
import heapq
import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.pvalue import PCollection

from firth import storage
from firth.corpus.documents.corpus_counts import DROPPED, IN, KEPT, CorpusCounts, DomainFlow, sum_counters
from firth.corpus.documents.document import Document
from firth.corpus.documents.hashing import hash63
from firth.corpus.privacy.pii import Pii
from firth.corpus.text.web_addresses import host_of, registered_domain

TOP_DOMAINS = 100
DomainCounts = dict[DomainFlow, int]
DOMAINS_FOLDER = "domains"


class LargestDomains(NamedTuple):
    """The domains with most documents, of all or of a part of them.

    Attributes:
        domains: Number of all domains.
        largest: At most `TOP_DOMAINS` of them: documents read, domain, and counts.
    """

    domains: int
    largest: list[tuple[int, str, DomainCounts]]


def count_domain(totals: CorpusCounts, document: Document, outcome: str, reason: str = "") -> None:
    """Counts a document by the registered domain of its page; that of a document without a URL is ""."""
    domain = registered_domain(host_of(document.uri))
    totals.domains[DomainFlow(domain, outcome, reason, "documents")] += 1
    totals.domains[DomainFlow(domain, outcome, reason, "bytes")] += document.size


@beam.ptransform_fn
def SumDomains(totals: PCollection[CorpusCounts]) -> PCollection[tuple[str, DomainCounts]]:
    """Sums the counts of each domain on one worker: counts to domains with counts.

    No worker holds the counts of all domains.
    """
    return totals | "Domains" >> beam.FlatMap(_by_domain) | "Sum" >> beam.CombinePerKey(sum_counters)


@beam.ptransform_fn
def TakeLargest(summed: PCollection[tuple[str, DomainCounts]]) -> PCollection[LargestDomains]:
    """Takes the domains with most documents: domains with counts to one element."""
    return summed | "One" >> beam.MapTuple(_alone) | "Largest" >> beam.CombineGlobally(_join)


def domain_rows(found: LargestDomains, scrubber: Pii) -> dict[str, Any]:
    """Returns the section `domains` of the corpus report."""
    return {
        "number": found.domains,
        "largest": [domain_row(domain, counts, scrubber) for _, domain, counts in found.largest],
    }


def domain_row(domain: str, counts: DomainCounts, scrubber: Pii) -> dict[str, Any]:
    """Returns a row of `domain_rows`."""
    sizes = {
        f"{unit}_{outcome}": counts.get(DomainFlow(domain, outcome, "", unit), 0)
        for outcome in (IN, KEPT)
        for unit in ("documents", "bytes")
    }
    dropped = {
        flow.reason: count
        for flow, count in sorted(counts.items())
        if (flow.outcome, flow.unit) == (DROPPED, "documents")
    }
    return {"domain": _shown(domain, scrubber), **sizes, "dropped": dropped}


def _shown(domain: str, scrubber: Pii) -> str:
    # Alone, the number of a server could be that of a version.
    return scrubber.scrub_metadata(f"http://{domain}/")[7:-1] if domain else ""


def _by_domain(totals: CorpusCounts) -> Iterator[tuple[str, DomainCounts]]:
    found: dict[str, DomainCounts] = {}
    for flow, count in totals.domains.items():
        found.setdefault(flow.domain, {})[flow] = count
    # Beam's runner of several processes cannot group an empty collection (apache/beam#25315).
    yield from (found or {"": {}}).items()


def _alone(domain: str, counts: DomainCounts) -> LargestDomains:
    if not counts:
        return LargestDomains(0, [])
    return LargestDomains(1, [(counts.get(DomainFlow(domain, IN, "", "documents"), 0), domain, counts)])


def _join(parts: Iterable[LargestDomains]) -> LargestDomains:
    every = list(parts)
    rows = (row for part in every for row in part.largest)
    largest = heapq.nsmallest(TOP_DOMAINS, rows, key=lambda row: (-row[0], row[1]))
    return LargestDomains(sum(part.domains for part in every), largest)


@beam.ptransform_fn
def WriteDomains(
    summed: PCollection[tuple[str, DomainCounts]], folder: str, files: int, scrubber: Pii
) -> PCollection[str | None]:
    """Writes a line of JSON for each domain to gzipped files: domains with counts to paths.

    They are the rows of `domain_rows`, of all domains; documents without a URL are left out. A domain is in
    the file that a hash of it names, in the order of the domains, so that the files are the same on any
    number of workers. Files that would be empty are not written.
    """
    return (
        summed
        | "File" >> beam.Map(lambda each: (hash63(each[0]) % files, each))
        | "Group" >> beam.GroupByKey()
        | "Write" >> beam.MapTuple(functools.partial(_write_rows, folder, files, scrubber))
    )


def _write_rows(
    folder: str, files: int, scrubber: Pii, index: int, rows: Iterable[tuple[str, DomainCounts]]
) -> str | None:
    named = sorted((domain, counts) for domain, counts in rows if domain)
    if not named:
        return None
    lines = [json.dumps(domain_row(*each, scrubber), ensure_ascii=False) + "\n" for each in named]
    path = f"{folder}/{index:05d}-of-{files:05d}.jsonl.gz"
    with storage.whole_file(path, "wb") as file:
        # Without a time, so that the same rows are the same bytes.
        file.write(gzip.compress("".join(lines).encode(), mtime=0))
    return path
