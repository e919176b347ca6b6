"""Files of the counts of all domains, on Beam."""

import functools
import gzip
import json
from collections.abc import Iterable

import apache_beam as beam
from apache_beam.pvalue import PCollection

from firth import storage
from firth.corpus.documents.hashing import hash63
from firth.corpus.privacy.pii import Pii
from firth.corpus.report.domains import DomainCounts, domain_row

DOMAINS_FOLDER = "domains"


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
