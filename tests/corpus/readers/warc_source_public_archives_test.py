"""Archives of warcio's and resiliparse's test suites: every page is read, or its rejection says why not.

`read_accounts_test.py` reads them by each reader.

FIRTH_WARC_FILES names a folder of the files in warcio's `test/data` and resiliparse's `tests/data`.
"""

import collections
import os
import pathlib

import pytest

from firth.corpus.documents.document import Document
from firth.recipes.corpus.sources import AnySource
from tests.corpus.readers.reading import read
from tests.corpus.source_files import FILES

# Documents and rejections. Comments explain where warcio 1.8 or fastwarc 2.0 read more or fewer pages.
ARCHIVES: dict[str, dict[str, int]] = {
    # Its last record says that it has 1 byte; the others say -1 or `abc`. warcio yields three empty ones.
    "bad.arc": {"malformed_header": 3, "no_http_status": 1},
    "block-sized-records.warc": {"not_a_response": 3},
    "block-sized-records.warc.gz": {"not_a_response": 3},
    # warcio does not read lz4.
    "block-sized-records.warc.lz4": {"not_a_response": 3},
    # Both peers yield the page as far as it goes.
    "clipped.warc.gz": {"truncated_gzip": 1},
    # fastwarc reads no HTTP header of LF alone.
    "clueweb-quirk.warc.gz": {"document": 29},
    # warcio refuses records that share a gzip stream.
    "example-bad-non-chunked.warc.gz": {"document": 1, "not_a_response": 1},
    "example-bad.warc.gz.bad": {"document": 1, "not_a_response": 1, "not_successful": 1},
    "example-digest.warc": {"empty": 1},
    "example-iana.org-chunked.warc": {"document": 1},
    "example-resource.warc.gz": {"not_a_response": 1},
    "example-space-in-target-uri.warc.gz": {"not_a_response": 1},
    # The file lost its carriage returns, and the length counts them. warcio yields what is left.
    "example-space-in-url.arc": {"bad_length": 1},
    # The length of the response is four bytes too short. Both peers yield it.
    "example-trunc.warc": {"bad_length": 1},
    "example-wget-bad-target-uri.warc.gz": {"document": 1, "not_a_response": 2},
    # Its chunks are declared and not there. warcio yields an empty page.
    "example-wrong-chunks.warc.gz": {"document": 1},
    # fastwarc does not read ARC.
    "example.arc": {"document": 1},
    "example.arc.gz": {"document": 1},
    "example.warc": {"document": 1, "not_a_response": 1},
    "example.warc.gz": {"document": 1, "not_a_response": 1},
    "post-test.warc.gz": {"not_text": 3},
    "warcfile.warc": {"document": 16},
    "warcfile.warc.gz": {"document": 16},
    "warcfile.warc.lz4": {"document": 16},
}


needs_archives = pytest.mark.needs_data(
    *ARCHIVES,
    variable="FIRTH_WARC_FILES",
    twin="tests/corpus/readers/warc_source_test.py::test_an_archive_of_many_kinds_of_records",
)


def source_of(kind: str, name: str) -> AnySource:
    """Returns a source of one archive, as a reader of some kind takes it."""
    path = pathlib.Path(os.environ["FIRTH_WARC_FILES"]) / name
    options = {"extractor": "resiliparse"} if kind in ("warc", "html") else {}
    return FILES[kind][0](kind=kind, name=f"{kind}-{name}", paths=(str(path),), **options)


def fits(kind: str, name: str) -> bool:
    """Returns whether a recipe takes an archive of this name for such a source."""
    return kind != "parquet" or not name.endswith((".gz", ".lz4"))


@needs_archives
@pytest.mark.parametrize("name", ARCHIVES)
def test_the_records_of_an_archive(name):
    records = read(source_of("warc", name))
    found = collections.Counter(getattr(each, "reason", "document") for each in records)
    assert found == ARCHIVES[name]
    assert all(each.uri.startswith("http") for each in records if isinstance(each, Document))
