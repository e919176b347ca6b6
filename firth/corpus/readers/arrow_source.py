"""Arrow files with one document in each row, as `datasets` writes them."""

from collections.abc import Iterator
from typing import Any

from firth.corpus.documents.document import Document
from firth.corpus.documents.rejection import Rejection
from firth.corpus.io.source_files import SourceFile
from firth.corpus.readers.decoding import reject_empty
from firth.corpus.readers.parquet_source import as_bytes, read_rows
from firth.recipes.corpus.sources import ArrowSource

_MAGIC = b"ARROW1"


@reject_empty
def read_arrow(source: ArrowSource, file: SourceFile) -> Iterator[Document | Rejection]:
    """Yields the documents of a file, streamed or with its footer, and rejections for rows without one.

    One batch of rows is held, as its writer made it; `datasets` makes batches of 1,000. The reasons of
    rejection are those of `read_fields`; `empty`; `too_long`; and `corrupt_arrow` and `unreadable`, after
    which reading of the file ends.
    """
    yield from read_rows(source, file, _rows, "corrupt_arrow")


def _rows(source: ArrowSource, raw: Any) -> Iterator[dict[str, Any]]:
    import pyarrow as pa

    start = raw.read(len(_MAGIC))
    raw.seek(0)
    if not start:
        return
    if start == _MAGIC:
        reader = pa.ipc.open_file(raw)
        batches = (reader.get_batch(i) for i in range(reader.num_record_batches))
    else:
        batches = iter(pa.ipc.open_stream(raw))
    keys = {source.text_key, source.id_key, source.uri_key, source.licence_key, *source.metadata_keys}
    tops = {part for key in keys if key for part in (key, key.partition(".")[0])}
    for batch in batches:
        columns = [name for name in batch.schema.names if name in tops]
        arrays = [as_bytes(batch.column(batch.schema.get_field_index(name))) for name in columns]
        for i in range(batch.num_rows):
            yield {name: array[i].as_py() for name, array in zip(columns, arrays, strict=True)}
