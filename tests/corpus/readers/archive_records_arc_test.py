"""ARC, the format before WARC: recognised by its content, read by the same source."""

import re

import pytest

from firth.corpus.documents.document import Document
from firth.corpus.readers.sources import SOURCES, list_files
from firth.recipes.corpus.sources import WarcSource
from tests.corpus.source_files import TEXTS, arc, arc_record, arc_start, http_block, page

OK = [arc_record(f"http://a/{i}", http_block(page(text))) for i, text in enumerate(TEXTS)]


def read(path, **options) -> list:
    source = WarcSource(kind="warc", paths=(str(path),), extractor="resiliparse", **options)
    return [record for file in list_files(source) for record in SOURCES["warc"].read(source, file)]


def outcomes(path, **options) -> list:
    return [each.text if isinstance(each, Document) else each.reason for each in read(path, **options)]


def longer(record: bytes, by: int) -> bytes:
    return re.sub(rb" (\d+)\n", lambda found: b" %d\n" % (int(found[1]) + by), record, count=1)


def test_the_pages_of_an_archive(tmp_path):
    path = tmp_path / "a.warc"
    path.write_bytes(arc(TEXTS))
    documents = read(path)
    assert [each.text for each in documents] == list(TEXTS)
    assert [each.uri for each in documents] == [f"http://a/{i}" for i in range(len(TEXTS))]


def test_what_is_not_a_page(tmp_path):
    path = tmp_path / "a.arc"
    path.write_bytes(
        arc_start()
        + arc_record("dns:a", b"20140216050221\na. 60 IN A 127.0.0.1", "text/dns")
        + arc_record("http://a/moved", http_block(b"", "Location: /", 301))
        + arc_record("http://a/not http", page(TEXTS[0]))
    )
    assert outcomes(path) == ["not_text", "not_successful", "no_http_status"]


# Replacements of the third of four records.
RECORDS = {
    "a space in the address": (arc_record("http://a/b c?d=e f", http_block(page(TEXTS[2]))), TEXTS[2]),
    "no type": (arc_record("http://a/", http_block(page(TEXTS[2])), ""), TEXTS[2]),
    "the second version": (
        OK[2].replace(b"text/html ", b"text/html 200 sum - 1209 a.arc ", 1),
        TEXTS[2],
    ),
    "a line end more": (OK[2] + b"\n\n", TEXTS[2]),
    "a length below zero": (longer(OK[2], -10_000), "malformed_header"),
    "no length": (re.sub(rb" \d+\n", b" -\n", OK[2], count=1), "malformed_header"),
    "a length too long": (longer(OK[2], 20), "bad_length"),
    "a length too short": (longer(OK[2], -20), "bad_length"),
    "a length that reaches over all records": (longer(OK[2], 10**5), "bad_length"),
    "a length beyond the limit": (longer(OK[2], 10**12), "bad_length"),
    "a record that is too long": (arc_record("http://a/", b"x" * 10**6 + b"y"), "too_long"),
    "no record": (b"nothing\n\n" + bytes(10**5) + b"\n", "bad_length"),
}


@pytest.mark.parametrize("name", RECORDS)
def test_the_records_after_a_broken_one_are_read(tmp_path, name):
    record, expected = RECORDS[name]
    path = tmp_path / "a.arc"
    path.write_bytes(arc_start() + OK[0] + OK[1] + record + OK[3])
    found = outcomes(path, max_document_bytes=10**6)
    if name == "no record":
        # The record before it is taken for one of a wrong length.
        assert found == [TEXTS[0], expected, TEXTS[3]]
    else:
        assert found == [TEXTS[0], TEXTS[1], expected, TEXTS[3]]


def test_a_file_that_ends_early(tmp_path):
    path = tmp_path / "a.arc"
    path.write_bytes(arc(TEXTS)[:-20])
    assert outcomes(path) == [*TEXTS[:-1], "bad_length"]


def test_lines_full_of_dates_take_time_in_proportion(tmp_path):
    path = tmp_path / "a.arc"
    path.write_bytes(arc_start() + longer(OK[0], 5) + b" a: 20140216050221 b" * 500_000 + b"\n" + OK[1])
    assert outcomes(path) == ["bad_length", TEXTS[1]]
