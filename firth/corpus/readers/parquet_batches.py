"""The number of rows of a Parquet file that may be decoded at once."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile

BATCH_BYTES = 2**24
MAX_BATCH_ROWS = 2**10
# The limit for decoded rows in the worst case. Files of text stay far below it.
MAX_DECODED_BYTES = 2**26
# A column of a row group that is larger, and was compressed more than that, is not text.
MAX_CHUNK_BYTES = 2**28
MAX_COMPRESSION = 200


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
