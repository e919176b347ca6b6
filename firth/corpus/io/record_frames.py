"""TFRecord's frame around each record: its length, and CRC-32C of the length and of the record."""

import struct
from typing import BinaryIO

import google_crc32c

HEADER = struct.Struct("<QI")
FOOTER = struct.Struct("<I")


def masked_checksum(data: bytes) -> int:
    """Returns the CRC-32C of bytes, masked as TFRecord does: rotated, and a constant added.

    Example:

    >>> hex(masked_checksum(b"123456789"))
    '0xc78ab0e5'
    """
    checksum = google_crc32c.value(data)
    return ((checksum >> 15 | checksum << 17) + 0xA282EAD8) & 0xFFFFFFFF


def write_record(file: BinaryIO, record: bytes) -> None:
    """Writes a record in its frame."""
    length = struct.pack("<Q", len(record))
    header = length + FOOTER.pack(masked_checksum(length))
    file.write(b"".join([header, record, FOOTER.pack(masked_checksum(record))]))


def read_record(file: BinaryIO) -> bytes | None:
    """Returns the next record, or None at the end of the file."""
    header = file.read(HEADER.size)
    if not header:
        return None
    if len(header) < HEADER.size:
        raise ValueError("not a TFRecord file: it ends within the length of a record")
    length, checksum = HEADER.unpack(header)
    if checksum != masked_checksum(header[:8]):
        raise ValueError("not a TFRecord file: the checksum of a record's length is wrong")
    record = file.read(length)
    footer = file.read(FOOTER.size)
    if len(footer) < FOOTER.size:
        raise ValueError("not a TFRecord file: it ends within a record")
    if footer != FOOTER.pack(masked_checksum(record)):
        raise ValueError("not a TFRecord file: the checksum of a record is wrong")
    return record
