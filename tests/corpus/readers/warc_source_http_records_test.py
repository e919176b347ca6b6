"""Pages as crawlers and servers write them: every slip in HTTP that is common is read, or named."""

import gzip
import zlib

import brotli
import pytest
import zstandard

from firth.corpus.documents.document import Document
from firth.corpus.readers.sources import SOURCES, list_files
from firth.corpus.readers.warc_source import join_chunks
from firth.recipes.corpus.sources import WarcSource
from tests.corpus.source_files import TEXTS, page, warc_record

TEXT = TEXTS[0]
PAGE = page(TEXT)
OK = b"HTTP/1.1 200 OK\r\n"
HTML = OK + b"Content-Type: text/html\r\n"
END = b"\r\n"
RAW_DEFLATE = zlib.compressobj(wbits=-15)


def chunked(body: bytes, size: int = 50, end: bytes = b"\r\n") -> bytes:
    parts = [body[i : i + size] for i in range(0, len(body), size)]
    return b"".join(b"%x%s%s%s" % (len(part), end, part, end) for part in parts) + b"0" + end + end


def encoded(name: bytes, body: bytes) -> bytes:
    return HTML + b"Content-Encoding: " + name + b"\r\n\r\n" + body


CHUNKED = HTML + b"Transfer-Encoding: chunked\r\n\r\n"
DEFLATED = RAW_DEFLATE.compress(PAGE) + RAW_DEFLATE.flush()
# Long enough to be recognised by its bytes.
GERMAN = "Grüße aus Köln, wo die Straßen eng und die Häuser schön sind. Über allem fließt der müde Rhein."
LATIN = page(GERMAN).decode().encode("latin-1")

# A block of a response, and its text or the reason of its rejection.
BLOCKS = {
    "LF alone": (HTML.replace(b"\r", b"") + b"\n" + PAGE, TEXT),
    "LF alone, gzip declared": (encoded(b"gzip", PAGE).replace(b"\r", b""), TEXT),
    "CRLF, then LF": (HTML + b"\n" + PAGE, TEXT),
    "LF, then CRLF": (HTML.replace(b"\r", b"") + b"\r\n" + PAGE, TEXT),
    "blank lines first": (b"\r\n\n" + HTML + END + PAGE, TEXT),
    "no reason phrase": (b"HTTP/1.1 200\r\nContent-Type: text/html\r\n\r\n" + PAGE, TEXT),
    "no version": (b"http 200 ok\r\nContent-Type: text/html\r\n\r\n" + PAGE, TEXT),
    "a folded header": (OK + b"Content-Type:\r\n text/html;\r\n\tcharset=utf-8\r\n\r\n" + PAGE, TEXT),
    "a header without a colon": (OK + b"nonsense\r\n" + HTML[len(OK) :] + END + PAGE, TEXT),
    "a space before the colon": (OK + b"Content-Type : text/html\r\n\r\n" + PAGE, TEXT),
    "a header that is not UTF-8": (HTML + b"Server: \xff\xfe\r\n\r\n" + PAGE, TEXT),
    "a length too short": (HTML + b"Content-Length: 3\r\n\r\n" + PAGE, TEXT),
    "a length too long": (HTML + b"Content-Length: 99999\r\n\r\n" + PAGE, TEXT),
    "a response that goes before": (b"HTTP/1.1 100 Continue\r\n\r\n" + HTML + END + PAGE, TEXT),
    "a proxy's response": (b"HTTP/1.0 200 Connection established\r\n\r\n" + HTML + END + PAGE, TEXT),
    "no type, but HTML": (OK + b"Server: x\r\n\r\n" + PAGE, TEXT),
    "no type": (OK + b"Server: x\r\n\r\n" + b"x = 1", "no_content_type"),
    "an empty type": (HTML.replace(b"text/html", b"") + END + PAGE, TEXT),
    "several types": (HTML + b"Content-Type: text/html; charset=utf-8\r\n\r\n" + PAGE, TEXT),
    "several types in one": (
        OK + b"Content-Type: text/plain, text/html;charset='utf-8'\r\n\r\n" + PAGE,
        TEXT,
    ),
    "other media": (OK + b"Content-Type: image/png\n\n" + PAGE, "not_text"),
    "no status": (b"Content-Type: text/html\r\n\r\n" + PAGE, "no_http_status"),
    "no blank line": (HTML + PAGE, "unended_http_header"),
    "chunks": (CHUNKED + chunked(PAGE), TEXT),
    "chunks of LF": (CHUNKED + chunked(PAGE, end=b"\n"), TEXT),
    "chunks declared over a plain body": (CHUNKED + PAGE, TEXT),
    "chunks that nobody declared": (HTML + END + chunked(PAGE), TEXT),
    "chunks cut short": (CHUNKED + chunked(PAGE)[:-7], TEXT),
    "chunks that do not fit": (
        CHUNKED + chunked(PAGE).replace(b"\r\n32\r\n", b"\r\n11\r\n"),
        "corrupt_chunks",
    ),
    "gzip": (encoded(b"gzip", gzip.compress(PAGE)), TEXT),
    "gzip in chunks": (
        HTML + b"Transfer-Encoding: gzip, chunked\r\n\r\n" + chunked(gzip.compress(PAGE)),
        TEXT,
    ),
    "gzip twice": (encoded(b"gzip", gzip.compress(gzip.compress(PAGE))), TEXT),
    "gzip and what does not belong to it": (encoded(b"x-gzip", gzip.compress(PAGE) + b"junk"), TEXT),
    "gzip in members": (encoded(b"gzip", gzip.compress(PAGE[:50]) + gzip.compress(PAGE[50:])), TEXT),
    "gzip declared over a plain body": (encoded(b"gzip", PAGE), TEXT),
    "gzip that nobody declared": (HTML + END + gzip.compress(PAGE), TEXT),
    "gzip cut short": (encoded(b"gzip", gzip.compress(PAGE)[:-20]), "truncated_gzip_body"),
    "gzip of a wrong sum": (encoded(b"gzip", gzip.compress(PAGE)[:-8] + bytes(8)), "corrupt_gzip_body"),
    "gzip declared over noise": (encoded(b"gzip", bytes(range(256))), "corrupt_gzip_body"),
    "deflate": (encoded(b"deflate", zlib.compress(PAGE)), TEXT),
    "deflate without its format": (encoded(b"Deflate", DEFLATED), TEXT),
    "deflate declared over a plain body": (encoded(b"deflate", PAGE), TEXT),
    "deflate that nobody declared": (HTML + END + zlib.compress(PAGE), TEXT),
    "deflate cut short": (encoded(b"deflate", zlib.compress(PAGE)[:-20]), "truncated_deflate_body"),
    "br": (encoded(b"br", brotli.compress(PAGE)), TEXT),
    "br declared over a plain body": (encoded(b"br", PAGE), TEXT),
    "br that nobody declared": (HTML + END + brotli.compress(PAGE), TEXT),
    "br cut short": (encoded(b"br", brotli.compress(PAGE)[:-9]), "truncated_br_body"),
    "zstd": (encoded(b"zstd", zstandard.compress(PAGE)), TEXT),
    "zstd cut short": (encoded(b"zstd", zstandard.compress(PAGE)[:-9]), "truncated_zstd_body"),
    "another encoding than declared": (encoded(b"br", gzip.compress(PAGE)), TEXT),
    "two encodings": (encoded(b"gzip, br", brotli.compress(gzip.compress(PAGE))), TEXT),
    "an unknown encoding": (encoded(b"utf-8", PAGE), TEXT),
    "UTF-16 with gzip declared": (encoded(b"gzip", b"\xff\xfe" + PAGE.decode().encode("utf-16-le")), TEXT),
    "a mark": (HTML + END + b"\xef\xbb\xbf" + PAGE, TEXT),
    "a mark of UTF-32": (HTML + END + PAGE.decode().encode("utf-32"), "undecodable"),
    "a charset in quotes": (OK + b'Content-Type: text/html;charset = "iso-8859-1"\n\n' + LATIN, GERMAN),
    "several charsets": (OK + b"Content-Type: text/html; charset=x; charset=latin1\n\n" + LATIN, GERMAN),
    "an unknown charset": (OK + b"Content-Type: text/html; charset=x\n\n" + LATIN, GERMAN),
    "no charset": (HTML + END + LATIN, GERMAN),
}


def outcome(folder, block: bytes, content_type: str = "application/http", **options) -> str:
    path = folder / "a.warc"
    path.write_bytes(warc_record("response", "http://a", block, content_type))
    source = WarcSource(kind="warc", paths=(str(path),), extractor="resiliparse", **options)
    (record,) = SOURCES["warc"].read(source, list_files(source)[0])
    return record.text if isinstance(record, Document) else record.reason


@pytest.mark.parametrize("name", BLOCKS)
def test_what_is_read_and_what_is_named(tmp_path, name):
    block, expected = BLOCKS[name]
    assert outcome(tmp_path, block) == expected


@pytest.mark.parametrize(
    "body",
    [
        b"999\n1\n2\n0\n",
        b"0\nall of the rest\n0\n",
        b"5\nab\n0\n",
        b"3\nabc\nand more\n0\n",
        b"ab\nc\n0\n",
    ],
)
def test_text_that_begins_and_ends_as_chunks_do_is_left_whole(body):
    assert join_chunks(body, declared=False) == body


def test_a_record_that_does_not_say_that_it_is_http(tmp_path):
    assert outcome(tmp_path, HTML + END + PAGE, "") == TEXT
    assert outcome(tmp_path, PAGE, "text/html") == TEXT
    assert outcome(tmp_path, b"a dns record", "text/dns") == "not_text"


@pytest.mark.parametrize("compress", [gzip.compress, zlib.compress, brotli.compress, zstandard.compress])
def test_nothing_unpacks_beyond_the_limit(tmp_path, compress):
    assert outcome(tmp_path, HTML + END + compress(bytes(2**22)), max_document_bytes=10**5) == "too_long"


# What a careless pattern would take the square of its length for.
LONG = {
    "folded lines": (OK + b"Content-Type: text/html\r\nX: y\r\n" + b" y\r\n" * 10**6 + END + PAGE, TEXT),
    "interim responses": (b"HTTP/1.1 100 Continue\r\n\r\n" * 300_000, "no_http_status"),
    "carriage returns": (OK + b"\r" * 4_000_000, "unended_http_header"),
    "chunks of one byte": (CHUNKED + b"1\r\na\r\n" * 150_000, "a" * 150_000),
}


@pytest.mark.parametrize("name", LONG)
def test_long_headers_take_time_in_proportion(tmp_path, name):
    block, expected = LONG[name]
    assert outcome(tmp_path, block) == expected
