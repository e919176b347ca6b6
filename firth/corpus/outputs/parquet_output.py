"""Writing of documents to Parquet files."""

import operator
from collections.abc import Iterable
from typing import IO, Any

from firth.corpus.documents.batching import in_batches
from firth.corpus.documents.document import Document
from firth.corpus.outputs.output_rows import FIELDS, METADATA, output_row
from firth.recipes.corpus.outputs import ParquetOutput

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
        for batch in in_batches(documents, ROW_GROUP_BYTES, operator.attrgetter("held_bytes")):
            rows = [output_row(document, split, keeps_metadata) for document in batch]
            writer.write_table(pa.Table.from_pylist(rows, schema))
