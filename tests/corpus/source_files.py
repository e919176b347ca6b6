"""Files of every kind of source that hold the same documents, and how they may be compressed."""

import bz2
import csv
import gzip
import html
import io
import json
import lzma
from collections.abc import Callable, Iterable, Sequence

import lz4.frame
import pyarrow as pa
import pyarrow.parquet as pq
import tensorflow as tf
import zstandard

from firth.corpus.io.records import write_record
from firth.recipes.corpus.sources import (
    AnySource,
    ArrowSource,
    CsvSource,
    HtmlSource,
    JsonlSource,
    MediawikiSource,
    ParquetSource,
    TextSource,
    TfrecordSource,
    WarcSource,
    WetSource,
    WikiextractorSource,
)

COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zstandard.compress,
    ".lz4": lz4.frame.compress,
}
NAMES = {".gz": "gzip", ".bz2": "bz2", ".xz": "xz", ".zst": "zst", ".lz4": "lz4"}

# They have at least two sentences each, or an extractor takes them for a menu.
TEXTS = tuple(
    f"Call me Ishmaël number {i}. Some years ago, never mind how long precisely, I thought I would sail "
    "about a little and see the watery part of the world. It is a way I have of driving off the spleen, "
    f"{i} times."
    for i in range(1, 6)
)


def warc_record(
    kind: str, uri: str, block: bytes, content_type: str = "text/plain", length: object = None
) -> bytes:
    header = (
        f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {uri}\r\nWARC-Date: 2020-08-08T16:54:17Z\r\n"
        f"WARC-Record-ID: <urn:uuid:{uri}>\r\nContent-Type: {content_type}\r\n"
        f"Content-Length: {len(block) if length is None else length}\r\n\r\n"
    )
    return header.encode() + block + b"\r\n\r\n"


def response(uri: str, body: bytes, http: str = "Content-Type: text/html", status=200, length=None) -> bytes:
    block = http_block(body, http, status)
    return warc_record("response", uri, block, "application/http; msgtype=response", length)


def http_block(body: bytes, http: str = "Content-Type: text/html", status=200) -> bytes:
    return f"HTTP/1.1 {status} As it is\r\n{http}\r\n\r\n".encode() + body


def arc_record(uri: str, block: bytes, content_type: str = "text/html", length: object = None) -> bytes:
    length = len(block) if length is None else length
    return f"{uri} 127.0.0.1 20140216050221 {content_type} {length}\n".encode() + block + b"\n"


def arc_start(fields: bytes = b"URL IP-address Archive-date Content-type Archive-length") -> bytes:
    return arc_record("filedesc://a.arc", b"1 0 Somebody\n" + fields + b"\n", "text/plain")


def arc(texts: Sequence[str]) -> bytes:
    return arc_start() + b"".join(
        arc_record(f"http://a/{i}", http_block(page(text))) for i, text in enumerate(texts)
    )


def page(text: str) -> bytes:
    return f"<!doctype html><html><body><article><p>{html.escape(text)}</p></article></body></html>".encode()


def example(**features) -> bytes:
    record = tf.train.Example()
    for name, value in features.items():
        if isinstance(value, int):
            record.features.feature[name].int64_list.value.append(value)
        else:
            record.features.feature[name].bytes_list.value.append(value)
    return record.SerializeToString()


def tfrecord(records: Sequence[bytes]) -> bytes:
    file = io.BytesIO()
    for record in records:
        write_record(file, record)
    return file.getvalue()


def parquet(table: dict, **options) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.table(table), file, **options)
    return file.getvalue()


def arrow(table: dict, rows: int = 2) -> bytes:
    """Returns a table as `datasets` saves it: a stream of batches of rows."""
    file, data = io.BytesIO(), pa.table(table)
    with pa.ipc.new_stream(file, data.schema) as stream:
        stream.write_table(data, max_chunksize=rows)
    return file.getvalue()


def _csv(texts: Sequence[str]) -> bytes:
    file = io.StringIO()
    csv.writer(file).writerows([["id", "text"], *enumerate(texts)])
    return file.getvalue().encode()


def dump(texts: Iterable[tuple[object, str]], head: str = "") -> bytes:
    """Returns articles with their titles as a wiki exports them."""
    pages = "".join(
        f"<page><title>{title}</title><ns>0</ns><id>{number}</id><revision><id>1{number}</id>"
        f"<timestamp>2026-11-28T10:00:00Z</timestamp><model>wikitext</model>"
        f"<text>{html.escape(text)}</text></revision></page>\n"
        for number, (title, text) in enumerate(texts)
    )
    site = "<base>https://en.wiki.example/wiki/Main_Page</base>"
    return f"<mediawiki><siteinfo>{site}{head}</siteinfo>{pages}</mediawiki>".encode()


def _wiki(texts: Sequence[str]) -> bytes:
    return "".join(
        f'<doc id="{i}" url="http://w/?curid={i}" title="T">\n{text}\n</doc>\n'
        for i, text in enumerate(texts)
    ).encode()


# Kind: the type, and one file of it for some texts. Kinds of one document a file get the first text.
FILES: dict[str, tuple[Callable[..., AnySource], Callable[[Sequence[str]], bytes]]] = {
    "text": (TextSource, lambda texts: texts[0].encode()),
    "jsonl": (JsonlSource, lambda texts: "\n".join(json.dumps({"text": each}) for each in texts).encode()),
    "csv": (CsvSource, _csv),
    "arrow": (ArrowSource, lambda texts: arrow({"text": list(texts)})),
    "parquet": (ParquetSource, lambda texts: parquet({"text": list(texts)}, row_group_size=2)),
    "warc": (
        WarcSource,
        lambda texts: b"".join(
            warc_record("warcinfo", "", b"") + response(f"http://a/{i}", page(text))
            for i, text in enumerate(texts)
        ),
    ),
    "wet": (
        WetSource,
        lambda texts: b"".join(
            warc_record("conversion", f"http://a/{i}", text.encode()) for i, text in enumerate(texts)
        ),
    ),
    "html": (HtmlSource, lambda texts: page(texts[0])),
    "wikiextractor": (WikiextractorSource, _wiki),
    "mediawiki": (MediawikiSource, lambda texts: dump(enumerate(texts))),
    "tfrecord": (TfrecordSource, lambda texts: tfrecord([example(text=each.encode()) for each in texts])),
}
COMPRESSED_KINDS = tuple(sorted(set(FILES) - {"arrow", "parquet"}))
