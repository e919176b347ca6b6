"""TFRecord files of tf.train.Examples with one document each."""

from collections.abc import Iterator
from typing import Any

from google.protobuf.message import DecodeError

from firth.corpus.documents.document import Document
from firth.corpus.documents.errors import UnreadableError
from firth.corpus.documents.example import Example
from firth.corpus.documents.rejection import BEGINNING_BYTES, Rejection
from firth.corpus.io.file_contents import ByteStream, RawRecord
from firth.corpus.io.records import FOOTER, HEADER, masked_checksum
from firth.corpus.io.source_files import SourceFile
from firth.corpus.readers.decoding import read_fields, read_or_reject, reject_empty
from firth.recipes.corpus.sources import TfrecordSource


@reject_empty
def read_tfrecord(source: TfrecordSource, file: SourceFile) -> Iterator[Document | Rejection]:
    """Yields the documents of a file, and rejections for records without one.

    The reasons of rejection are those of `read_fields` and `problem_of`; `empty`; `too_long`;
    `malformed_example`; `corrupt_record`, after which reading continues; and `corrupt_length` and
    `truncated_record`, after which reading of the file ends.
    """
    records = _records(ByteStream(file.path), source.max_document_bytes)
    for number, (data, size, problem) in enumerate(records, 1):
        yield _read_record(source, file.place, RawRecord(number, data, size, problem))


def _records(stream: ByteStream, max_bytes: int) -> Iterator[tuple[bytes, int, str | None]]:
    """Yields data, size and problem of each record."""
    while stream.fill(1):
        header = stream.take(HEADER.size)
        if len(header) < HEADER.size:
            yield header, len(header), stream.problem or "truncated_record"
            return
        length, checksum = HEADER.unpack(header)
        if checksum != masked_checksum(header[:8]):
            yield header, len(header) + stream.skip(2**63), stream.problem or "corrupt_length"
            return
        # A record that is too long is skipped, and only its beginning is kept.
        data = stream.take(length if length <= max_bytes else min(length, BEGINNING_BYTES))
        size = len(data) + stream.skip(length - len(data))
        footer = stream.take(FOOTER.size)
        if len(footer) < FOOTER.size:
            yield data, size, stream.problem or "truncated_record"
            return
        if size > max_bytes:
            yield data, size, "too_long"
        else:
            yield data, size, None if footer == FOOTER.pack(masked_checksum(data)) else "corrupt_record"
    if stream.problem:
        yield b"", 0, stream.problem


def _read_record(source: TfrecordSource, path: str, record: RawRecord) -> Document | Rejection:
    place = f"{path}#R{record.number}"
    return read_or_reject(
        lambda: read_fields(source, parse_example(record.data)), source, path, record, place
    )


def parse_example(data: bytes) -> dict[str, Any]:
    """Returns the first value of each feature of a tf.train.Example.

    Features without a value are left out.

    Example:

    >>> parse_example(b"no example")
    Traceback (most recent call last):
    firth.corpus.documents.errors.UnreadableError: malformed_example
    """
    try:
        features = Example.FromString(data).features.feature
    except DecodeError:
        raise UnreadableError("malformed_example") from None
    # Slicing first avoids making Python objects of millions of values.
    values = {
        name: each.bytes_list.value[:1] or each.int64_list.value[:1] or each.float_list.value[:1]
        for name, each in features.items()
    }
    return {name: value[0] for name, value in values.items() if value}
