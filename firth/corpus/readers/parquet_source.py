"""Parquet files, and Arrow files as `datasets` writes them, with one document in each row."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems

from firth.corpus.documents.document import Document
from firth.corpus.documents.errors import UnreadableError
from firth.corpus.documents.rejection import Rejection
from firth.corpus.io.source_files import SourceFile
from firth.corpus.readers.decoding import make_document, read_fields, reject, reject_empty
from firth.recipes.corpus.sources import ArrowSource, ParquetSource, RecordSource

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.parquet import ParquetFile

SourceT = TypeVar("SourceT", bound=RecordSource)
BUFFER_BYTES = 2**20
BATCH_BYTES = 2**24
MAX_BATCH_ROWS = 2**10
# The limit for decoded rows in the worst case. Files of text stay far below it.
MAX_DECODED_BYTES = 2**26
# A column of a row group that is larger, and was compressed more than that, is not text.
MAX_CHUNK_BYTES = 2**28
MAX_COMPRESSION = 200
_MAGIC = b"ARROW1"


@reject_empty
def read_parquet(source: ParquetSource, file: SourceFile) -> Iterator[Document | Rejection]:
    """Yields the documents of a file, and rejections for rows without one.

    Only the columns that the recipe names are read, some mebibytes of rows at a time. A page of a column is
    held as a whole, since Parquet compresses whole pages. The reasons of rejection are those of
    `read_fields`; `empty`; `too_long`; `decompression_bomb`, for the whole file; and `corrupt_parquet` and
    `unreadable`, after which reading of the file ends.
    """
    yield from read_rows(source, file, _rows, "corrupt_parquet")


def _rows(source: ParquetSource, raw: Any) -> Iterator[dict[str, Any]]:
    import pyarrow.parquet as pq

    parquet = pq.ParquetFile(raw, buffer_size=BUFFER_BYTES)
    paths = [parquet.schema.column(i).path for i in range(len(parquet.schema))]
    keys = (source.text_key, source.id_key, source.uri_key, source.licence_key, *source.metadata_keys)
    columns = [key for key in keys if key and key in {*paths, *parquet.schema_arrow.names}]
    options = {"metadata": parquet.metadata, "buffer_size": BUFFER_BYTES}
    dictionaries = pq.ParquetFile(raw, read_dictionary=paths, **options)
    for batch in parquet.iter_batches(batch_rows(parquet, dictionaries, columns), columns=columns):
        arrays = [as_bytes(array) for array in batch.columns]
        for i in range(batch.num_rows):
            yield {name: array[i].as_py() for name, array in zip(batch.schema.names, arrays)}


def as_bytes(array: "pa.Array") -> "pa.Array":
    """Returns strings as bytes: Arrow does not check that strings are UTF-8, and `read_fields` does."""
    import pyarrow as pa

    if pa.types.is_struct(array.type):
        names = [array.type.field(i).name for i in range(array.type.num_fields)]
        return pa.StructArray.from_arrays(list(map(as_bytes, array.flatten())), names, mask=array.is_null())
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if pa.types.is_string(array.type) or pa.types.is_large_string(array.type):
        return array.cast(pa.large_binary())
    return array


def read_rows(
    source: SourceT, file: SourceFile, rows: Callable[[SourceT, Any], Iterator[dict[str, Any]]], corrupt: str
) -> Iterator[Document | Rejection]:
    """Yields the documents and rejections of the rows of a table that Arrow reads."""
    import pyarrow as pa

    number = 0
    try:
        with FileSystems.open(file.path, compression_type=CompressionTypes.UNCOMPRESSED) as raw:
            for row in rows(source, raw):
                number += 1
                yield read_row(source, file.place, number, row)
    except DecompressionBombError:
        yield reject(source, file.place, 0, "decompression_bomb", b"", file.size)
    except (OSError, ValueError, pa.ArrowException) as error:
        # Arrow's own errors about broken files are OSErrors without a number.
        problem = "unreadable" if getattr(error, "errno", None) else corrupt
        yield reject(source, file.place, number and number + 1, problem, b"")


def read_row(source: RecordSource, path: str, number: int, row: dict[str, Any]) -> Document | Rejection:
    """Returns the document of a row of a table, or its rejection."""
    try:
        text, stated = read_fields(source, row)
    except UnreadableError as error:
        return reject(source, path, number, error.reason, b"")
    data = text.encode("utf-8")
    if len(data) > source.max_document_bytes:
        return reject(source, path, number, "too_long", data)
    return make_document(source, f"{path}#R{number}", text, stated)


class DecompressionBombError(ValueError):
    """The stated size of a column is many times what compressed text can have."""


def batch_rows(parquet: "ParquetFile", dictionaries: "ParquetFile", columns: Sequence[str]) -> int:
    """Returns the number of rows to decode at a time: about `BATCH_BYTES`, never over `MAX_DECODED_BYTES`.

    The sizes stated in a file are those before decoding. A row may take only a few bits there, if its value
    is in a dictionary or begins like that of the row before.

    Raises:
        DecompressionBombError: if a column cannot be text.
    """
    leaves = leaves_of(parquet, columns)
    rows = MAX_BATCH_ROWS
    for number in range(parquet.num_row_groups):
        group = parquet.metadata.row_group(number)
        chunks = [group.column(i) for i in leaves]
        size = sum(chunk.total_uncompressed_size for chunk in chunks)
        _check(size, sum(chunk.total_compressed_size for chunk in chunks))
        rows = min(rows, BATCH_BYTES // max(size // max(group.num_rows, 1), 1))
        longest = _longest(dictionaries, number, columns, chunks, size)
        if longest * min(rows, group.num_rows) > MAX_DECODED_BYTES:
            rows = min(rows, MAX_DECODED_BYTES // longest)
    return max(rows, 1)


def leaves_of(parquet: "ParquetFile", columns: Sequence[str]) -> list[int]:
    """Returns the indices of the columns' leaves in the schema of a file."""
    paths = [parquet.schema.column(i).path for i in range(len(parquet.schema))]
    return [
        i
        for i, path in enumerate(paths)
        if any(path == column or path.startswith(f"{column}.") for column in columns)
    ]


def _check(size: int, compressed: int) -> None:
    if size > MAX_CHUNK_BYTES and size > MAX_COMPRESSION * compressed:
        raise DecompressionBombError(f"{compressed} bytes are {size} bytes")


def _longest(
    dictionaries: "ParquetFile", number: int, columns: Sequence[str], chunks: list[Any], size: int
) -> int:
    """Returns an upper bound of the bytes that an encoding may repeat in each row of a group."""
    if any("DELTA_BYTE_ARRAY" in chunk.encodings for chunk in chunks):
        return size
    if size <= MAX_DECODED_BYTES // MAX_BATCH_ROWS or not any(each.has_dictionary_page for each in chunks):
        return 0
    # The first row comes with the whole dictionary.
    batch = next(dictionaries.iter_batches(1, row_groups=[number], columns=list(columns)), None)
    return sum(map(_longest_value, batch.columns)) if batch else 0


def _longest_value(array: Any) -> int:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_struct(array.type):
        return sum(_longest_value(array.field(i)) for i in range(array.type.num_fields))
    if not pa.types.is_dictionary(array.type):
        return 0
    return pc.max(pc.binary_length(array.dictionary)).as_py() or 0


@reject_empty
def read_arrow(source: ArrowSource, file: SourceFile) -> Iterator[Document | Rejection]:
    """Yields the documents of a file, streamed or with its footer, and rejections for rows without one.

    One batch of rows is held, as its writer made it; `datasets` makes batches of 1,000. The reasons of
    rejection are those of `read_fields`; `empty`; `too_long`; and `corrupt_arrow` and `unreadable`, after
    which reading of the file ends.
    """
    yield from read_rows(source, file, _arrow_rows, "corrupt_arrow")


def _arrow_rows(source: ArrowSource, raw: Any) -> Iterator[dict[str, Any]]:
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
