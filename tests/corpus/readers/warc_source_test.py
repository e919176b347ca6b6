import contextlib
import gzip
import io
import re
import tracemalloc

import pytest
from fastwarc.warc import ArchiveIterator

from firth.corpus.documents.document import Document
from firth.corpus.documents.rejection import BEGINNING_BYTES
from firth.corpus.privacy.excerpts import scrubber_for
from firth.corpus.readers.archive_records import read_archive
from firth.corpus.readers.sources import SOURCES, list_files
from firth.recipes.corpus.cleaning import Cleaning
from firth.recipes.corpus.sources import WarcSource, WetSource
from tests.corpus.source_files import TEXTS, arc_record, http_block, page, response, warc_record
from tests.shared_data import shared_data

OK = [response(f"http://a/{i}", page(text)) for i, text in enumerate(TEXTS)]


def read(path, kind=WarcSource, **options) -> list:
    """Returns texts, and reasons of rejection, in order of reading."""
    source = kind(kind="wet" if kind is WetSource else "warc", paths=(str(path),), **options)
    records = [record for file in list_files(source) for record in SOURCES[source.kind].read(source, file)]
    return [each.text if isinstance(each, Document) else each.reason for each in records]


def longer(record: bytes, by: int) -> bytes:
    """Returns a record whose header claims another length."""
    return re.sub(
        rb"Content-Length: (\d+)", lambda found: b"Content-Length: %d" % (int(found[1]) + by), record
    )


BROKEN = {
    "a length a little too long": (longer(OK[0], 20), "bad_length"),
    "a length that reaches over all records": (longer(OK[0], 10**5), "bad_length"),
    "a length beyond the limit": (longer(OK[0], 10**12), "bad_length"),
    "a length too short": (longer(OK[0], -30), "bad_length"),
    "no length": (OK[0].replace(b"Content-Length", b"Content-Lenght"), "malformed_header"),
    "a length below zero": (longer(OK[0], -(10**6)), "malformed_header"),
    "no record at all": (b"\0" * 10**6, "not_a_record"),
    "half a header": (OK[0][:70] + b"\r\n\r\n", "malformed_header"),
    "two halves": (OK[0][:250], "bad_length"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_record_is_rejected_and_the_next_are_read(tmp_path, name):
    broken, reason = BROKEN[name]
    path = tmp_path / "a.warc"
    path.write_bytes(OK[1] + broken + b"\r\n\r\n" + OK[2] + OK[3])
    assert read(path, max_document_bytes=10**6) == [TEXTS[1], reason, TEXTS[2], TEXTS[3]]


def test_fastwarc_keeps_no_accounts_of_broken_records():
    """Once it does, its faster reader can take the place of ours."""
    kept = []
    for name, (broken, _) in BROKEN.items():
        archive = io.BytesIO(OK[1] + broken + b"\r\n\r\n" + OK[2] + OK[3])
        with contextlib.suppress(OSError):
            found = [len(record.reader.read()) for record in ArchiveIterator(archive, parse_http=False)]
            kept += [name] if len(found) == 4 else []
    # It takes the half header for a whole record.
    assert kept in ([], ["half a header"])


def test_of_broken_records_no_more_is_copied_than_is_quoted(tmp_path):
    path = tmp_path / "a.warc"
    no_length = re.sub(rb"Content-Length: \d+", b"No-Length: 1", OK[0])
    broken = [longer(OK[0], -30), longer(OK[0], 10**5), no_length, longer(OK[0], 10**12)] * 2
    path.write_bytes(b"\r\n\r\n".join([*broken, b"\0" * 10**6 + b"\r\n\r\n" + OK[1]]))
    *records, last = read_archive(str(path), 10**6)
    assert last.problem is None
    reasons = ["bad_length", "bad_length", "malformed_header", "bad_length"]
    assert [each.problem for each in records] == reasons * 2
    assert all(len(each.block) <= BEGINNING_BYTES for each in records)
    # What has no header ends where the next record begins.
    assert records[2].block.rstrip() == no_length.rstrip()


@pytest.mark.parametrize(
    ("record", "excerpt"),
    [
        (response("http://a", b"Ask jane@roe.org", status=404), "HTTP/1.1 404"),
        (response("http://a", b"%PDF-1.7 of a few bytes", "Content-Type: application/pdf"), "HTTP/1.1 200"),
        (arc_record("http://a/", http_block(b"Gone", status=404)), "HTTP/1.1 404"),
        (warc_record("resource", "http://a", b"Ask jane@roe.org"), "Ask <EMAIL>"),
        (b"Ask jane@roe.org", "Ask <EMAIL>"),
        # The block ends before the record does, so its last value may be cut.
        (longer(warc_record("response", "http://a", b"Ask jane@roe.org and others."), -20), ""),
    ],
)
def test_a_rejected_record_is_quoted(tmp_path, record, excerpt):
    path = tmp_path / "a.warc"
    path.write_bytes(record)
    source = WarcSource(kind="warc", paths=(str(path),))
    rejection = next(iter(SOURCES["warc"].read(source, list_files(source)[0])))
    shown = rejection.excerpt(scrubber_for(Cleaning()))
    assert shown.startswith(excerpt) if excerpt else shown == ""


def test_a_file_that_ends_early(tmp_path):
    path = tmp_path / "a.warc"
    path.write_bytes(OK[0] + OK[1][:-20])
    assert read(path) == [TEXTS[0], "bad_length"]


def test_a_member_that_ends_early(tmp_path):
    path = tmp_path / "a.warc.gz"
    members = [gzip.compress(record) for record in OK]
    path.write_bytes(b"".join(members[:2]) + members[2][:-20])
    assert read(path) == [TEXTS[0], TEXTS[1], "truncated_gzip"]


def test_a_record_beyond_the_limit_is_not_held(tmp_path):
    path = tmp_path / "a.warc"
    block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + bytes(2**25)
    path.write_bytes(OK[0] + warc_record("response", "http://big", block) + OK[1])
    del block
    tracemalloc.start()
    outcome = read(path, max_document_bytes=10**5)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert outcome == [TEXTS[0], "too_long", TEXTS[1]]
    assert peak < 2**23


def test_a_body_that_unpacks_beyond_the_limit(tmp_path):
    path = tmp_path / "a.warc"
    bomb = gzip.compress(bytes(2**26))
    http = "Content-Type: text/html\r\nContent-Encoding: gzip"
    path.write_bytes(response("http://bomb", bomb, http) + OK[1])
    assert read(path, max_document_bytes=10**5) == ["too_long", TEXTS[1]]


RESPONSES = {
    "gzip": ("Content-Type: text/html\r\nContent-Encoding: gzip", gzip.compress, 200, None),
    "chunked": (
        "Content-Type: text/html\r\nTransfer-Encoding: chunked",
        lambda body: b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body),
        200,
        None,
    ),
    "latin-1, declared": (
        "Content-Type: text/html; charset=ISO-8859-1",
        lambda body: body.decode().encode("latin-1"),
        200,
        None,
    ),
    "utf-8, declared as latin-1": ("Content-Type: text/html; charset=ISO-8859-1", bytes, 200, None),
    "XHTML": ("Content-Type: Application/XHTML+XML; charset=utf-8", bytes, 203, None),
    "no such page": ("Content-Type: text/html", bytes, 404, "not_successful"),
    "moved": ("Content-Type: text/html\r\nLocation: /", bytes, 301, "not_successful"),
    "an image": ("Content-Type: image/png", bytes, 200, "not_text"),
    "no text": ("Content-Type: text/html", lambda _: b"<html><script>x=1</script></html>", 200, "no_text"),
    "nothing": ("Content-Type: text/plain", lambda _: b"", 200, "no_text"),
    "bytes of no encoding": ("Content-Type: text/html", lambda _: bytes(range(128, 256)), 200, "undecodable"),
    "deep": ("Content-Type: text/html", lambda _: b"<div>" * 10_000 + b"a", 200, "nested_too_deeply"),
}


@pytest.mark.parametrize("name", RESPONSES)
def test_responses(tmp_path, name):
    http, encode, status, reason = RESPONSES[name]
    path = tmp_path / "a.warc"
    path.write_bytes(response("http://a", encode(page(TEXTS[0])), http, status) + OK[1])
    assert read(path) == [reason or TEXTS[0], TEXTS[1]]


def test_plain_text_and_other_records(tmp_path):
    path = tmp_path / "a.warc"
    path.write_bytes(
        warc_record("warcinfo", "", b"software: x")
        + warc_record("request", "http://a", b"GET / HTTP/1.1\r\n\r\n", "application/http; msgtype=request")
        + response("<http://a/b>", b"plain <b> text", "Content-Type: text/plain")
        + warc_record("metadata", "http://a", b"{}")
        + warc_record("revisit", "http://a", b"HTTP/1.1 304 Not Modified\r\n\r\n")
    )
    assert read(path) == ["plain <b> text", "not_a_response"]
    source = WarcSource(kind="warc", paths=(str(path),))
    first = next(iter(SOURCES["warc"].read(source, list_files(source)[0])))
    assert first.uri == "http://a/b"
    assert read(path, WetSource) == ["not_a_conversion", "not_a_conversion"]


def test_wet(tmp_path):
    path = tmp_path / "a.wet"
    path.write_bytes(
        warc_record("warcinfo", "", b"x")
        + warc_record("conversion", "http://a", "Käse".encode())
        + warc_record("conversion", "http://b", b"bad\xff")
        + warc_record("conversion", "http://c", b" ")
    )
    assert read(path, WetSource) == ["Käse", "invalid_utf8", "empty"]


OF_MANY = {"not_text": 122, "not_successful": 47, "no_text": 2, "undecodable": 1}


@pytest.mark.repeated
@pytest.mark.parametrize(
    ("name", "documents", "rejected"),
    [
        pytest.param("aut_example.arc.gz", 127, OF_MANY, marks=pytest.mark.repeated),
        pytest.param("aut_example.warc.gz", 127, OF_MANY, marks=pytest.mark.repeated),
        ("resiliparse.warc.gz", 16, {}),
        ("sample-0000.warc.gz", 22, {"not_a_response": 2}),
        ("sample-0001.warc.gz", 15, {"not_a_response": 2}),
        ("whirlwind.warc.wat.gz", 0, {"empty": 1}),
    ],
)
@pytest.mark.needs_data("commoncrawl", twin="test_an_archive_of_many_kinds_of_records")
def test_real_archives(name, documents, rejected):
    check_archive(shared_data(f"commoncrawl/{name}"), documents, rejected)


def test_an_archive_of_many_kinds_of_records(tmp_path):
    records = [
        warc_record("warcinfo", "http://a/", b"software: x"),
        warc_record("revisit", "http://a/1", b"HTTP/1.1 304 Not Modified\r\n\r\n"),
        *OK,
        response("http://a/image", b"\x89PNG", "Content-Type: image/png"),
        response("http://a/gone", page(TEXTS[0]), status=404),
        response("http://a/empty", b"<html></html>"),
    ]
    path = tmp_path / "a.warc.gz"
    path.write_bytes(b"".join(map(gzip.compress, records)))
    rejected = {"not_a_response": 1, "not_text": 1, "not_successful": 1, "no_text": 1}
    check_archive(path, len(TEXTS), rejected)


def check_archive(path, documents, rejected):
    source = WarcSource(kind="warc", paths=(str(path),), extractor="resiliparse")
    records = list(SOURCES["warc"].read(source, list_files(source)[0]))
    reasons = [each.reason for each in records if not isinstance(each, Document)]
    assert {reason: reasons.count(reason) for reason in reasons} == rejected
    pages = [each for each in records if isinstance(each, Document)]
    assert len(pages) == documents == len({each.id for each in pages})
    assert all(re.match("https?://", each.uri) for each in pages)


@pytest.mark.parametrize("extractor", ["trafilatura", "resiliparse"])
@pytest.mark.needs_data("commoncrawl", twin="tests/corpus/readers/pages_test.py::test_f1_on_made_up_pages")
def test_the_text_of_a_page_is_in_what_common_crawl_made_of_it(extractor):
    folder = shared_data("commoncrawl")
    (ours,) = read(folder / "whirlwind.warc.gz", extractor=extractor)
    (theirs,) = read(folder / "whirlwind.warc.wet.gz", WetSource)
    words, known = ours.split(), set(theirs.split())
    assert len(words) > 200
    assert sum(word in known for word in words) > 0.97 * len(words)
    # Menus are theirs alone.
    assert "Menú principal" in theirs
    assert "Menú principal" not in ours
