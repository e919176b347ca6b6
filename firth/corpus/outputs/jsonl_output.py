"""Writing of documents to files of JSON lines."""

import contextlib
import json
from collections.abc import Callable, Iterable
from typing import IO, Any

import zstandard
from isal import igzip

from firth.corpus.documents.batching import in_batches
from firth.corpus.documents.document import Document
from firth.corpus.outputs.output_rows import METADATA, output_row
from firth.recipes.corpus.outputs import JsonlOutput

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
        for lines in in_batches(rows, BLOCK_BYTES, len):
            compressed.write("".join(f"{line}\n" for line in lines).encode("utf-8"))


def _line(row: dict[str, str | None]) -> str:
    text = row.get(METADATA)
    further = {METADATA: json.loads(text)} if text else {}
    return json.dumps({**row, **further}, ensure_ascii=False)
