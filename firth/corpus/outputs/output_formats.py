"""The fields of a document in the files that others read."""

import contextlib
import json
import operator
from collections.abc import Callable, Iterable
from typing import IO, Any

import zstandard
from isal import igzip

from firth.corpus.documents.batching import split_into_batches
from firth.corpus.documents.document import Document
from firth.corpus.text.web_addresses import host_of
from firth.recipes.corpus.outputs import JsonlOutput, ParquetOutput

# The order of the fields in the files.
FIELDS = ("text", "id", "source", "url", "licence", "provenance", "split")
# The last field, of a corpus whose sources keep metadata.
METADATA = "metadata"


def output_row(document: Document, split: str, keeps_metadata: bool = False) -> dict[str, str | None]:
    """Returns the fields of a document: strings, and `url` None for a document that is not from the web.

    Example:

    >>> page, book = (Document("1f", "Hi.", "web", "CC0", uri) for uri in ("https://a.org/b", "a.txt"))
    >>> output_row(page, "train")["url"], output_row(book, "train")["url"]
    ('https://a.org/b', None)
    """
    further = {METADATA: document.metadata or None} if keeps_metadata else {}
    return {
        "text": document.text,
        "id": document.id,
        "source": document.source,
        "url": document.uri if host_of(document.uri) else None,
        "licence": document.licence,
        "provenance": document.uri,
        "split": split,
        **further,
    }


BLOCK_BYTES = 2**20
# The best ratio that isal has.
_GZIP_LEVEL = 3


def _gzip(file: IO[bytes]) -> Any:
    # Neither name nor time, so that the same documents are the same bytes.
    return igzip.IGzipFile(fileobj=file, mode="wb", compresslevel=_GZIP_LEVEL, filename="", mtime=0)


def _zstd(file: IO[bytes]) -> Any:
    return zstandard.ZstdCompressor().stream_writer(file, closefd=False)


_COMPRESSORS: dict[str, Callable[[IO[bytes]], Any]] = {
    "gzip": _gzip,
    "zstd": _zstd,
    "none": contextlib.nullcontext,
}


def write_jsonl(
    output: JsonlOutput,
    file: IO[bytes],
    documents: Iterable[Document],
    split: str,
    keeps_metadata: bool = False,
) -> None:
    """Writes documents to a file of UTF-8, a JSON object of the fields of `output_row` a line."""
    rows = (_line(output_row(document, split, keeps_metadata)) for document in documents)
    with _COMPRESSORS[output.compression](file) as compressed:
        for lines in split_into_batches(rows, BLOCK_BYTES, len):
            compressed.write("".join(f"{line}\n" for line in lines).encode("utf-8"))


def _line(row: dict[str, str | None]) -> str:
    text = row.get(METADATA)
    further = {METADATA: json.loads(text)} if text else {}
    return json.dumps({**row, **further}, ensure_ascii=False)


# Text of a row group, which writer and reader hold as a whole.
ROW_GROUP_BYTES = 2**24
_ALWAYS = frozenset(FIELDS) - {"url"}


def write_parquet(
    output: ParquetOutput,
    file: IO[bytes],
    documents: Iterable[Document],
    split: str,
    keeps_metadata: bool = False,
) -> None:
    """Writes documents to a file, a row each, with the columns of `output_row`, all of strings."""
    import pyarrow as pa
    from pyarrow import parquet

    names = (*FIELDS, METADATA) if keeps_metadata else FIELDS
    schema = pa.schema([pa.field(name, pa.string(), nullable=name not in _ALWAYS) for name in names])
    # These repeat; texts and ids do not.
    repeated: Any = ["source", "licence", "split"]
    with parquet.ParquetWriter(
        file, schema, compression=output.compression, use_dictionary=repeated
    ) as writer:
        for batch in split_into_batches(documents, ROW_GROUP_BYTES, operator.attrgetter("held_bytes")):
            rows = [output_row(document, split, keeps_metadata) for document in batch]
            writer.write_table(pa.Table.from_pylist(rows, schema))
