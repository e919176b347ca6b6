"""Streaming decompression with bounded memory, which reports truncated and corrupt streams."""

import bz2
import codecs
import functools
import lzma
import os
import re
import zlib
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, NamedTuple

BLOCK_BYTES = 2**18
# zstandard returns the whole decompressed form of its input, at worst 128 KiB for every 4 bytes.
ZST_INPUT_BYTES = 2**9
# `xz -9` needs a quarter of this memory, while a broken header may ask for gigabytes.
XZ_MEMORY_BYTES = 2**28
# Bytes that no text has, in UTF-8 or an encoding of its kind. The WHATWG's MIME sniffing calls them binary.
_BINARY = re.compile(rb"[\0-\x08\x0b\x0e-\x1a\x1c-\x1f]")


class _Adapter:
    """The attributes that decompressors of other libraries share with those of bz2 and xz."""

    _inner: Any

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data or b""


class _Zlib(_Adapter):
    _window_bits: int

    def __init__(self) -> None:
        self._inner = zlib.decompressobj(wbits=self._window_bits)
        self.needs_input = True

    def decompress(self, data: bytes, max_length: int) -> bytes:
        try:
            block = self._inner.decompress(self._inner.unconsumed_tail + data, max_length)
        except zlib.error as error:
            raise OSError(str(error)) from error
        self.needs_input = len(block) < max_length
        return block


class Gzip(_Zlib):
    """Decompresses gzip."""

    _window_bits = 31


class Zlib(_Zlib):
    """Decompresses deflate in zlib's format."""

    _window_bits = 15


class RawDeflate(_Zlib):
    """Decompresses deflate without a header."""

    _window_bits = -15


class Zst(_Adapter):
    """Decompresses Zstandard. Its output is not bounded: callers pass little input at a time."""

    needs_input = True

    def __init__(self) -> None:
        import zstandard

        self._inner = zstandard.ZstdDecompressor().decompressobj()

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """Returns the decompressed form of all the data."""
        import zstandard

        # The input is short instead.
        try:
            return self._inner.decompress(data) if data else b""
        except zstandard.ZstdError as error:
            raise OSError(str(error)) from error


class Lz4(_Adapter):
    """Decompresses the frame format of LZ4."""

    def __init__(self) -> None:
        import lz4.frame

        self._inner = lz4.frame.LZ4FrameDecompressor()

    @property
    def needs_input(self) -> bool:
        """True if further output needs further input."""
        return self._inner.needs_input

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """Returns the next decompressed bytes."""
        try:
            return self._inner.decompress(data, max_length)
        except RuntimeError as error:
            raise OSError(str(error)) from error


class Brotli:
    """Decompresses Brotli. Data after the end of the stream is an error."""

    unused_data = b""

    def __init__(self) -> None:
        import brotli

        self._inner = brotli.Decompressor()

    @property
    def eof(self) -> bool:
        """True after the end of the stream."""
        return self._inner.is_finished()

    @property
    def needs_input(self) -> bool:
        """True if further output needs further input."""
        return self._inner.can_accept_more_data()

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """Returns the next decompressed bytes."""
        import brotli

        try:
            return self._inner.process(data, output_buffer_limit=max_length)
        except brotli.error as error:
            raise OSError(str(error)) from error


class StreamError(OSError):
    """A compressed stream ends too early or is not valid.

    Attributes:
        reason: Reason of rejection.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Compression(NamedTuple):
    """A compression format.

    Attributes:
        name: Name of the format in reasons of rejection.
        new_decompressor: Returns a new decompressor of one stream, with the interface of
            `bz2.BZ2Decompressor`.
        start: Pattern that matches the first bytes of a stream.
        input_bytes: Number of compressed bytes that are decompressed at a time.
    """

    name: str
    new_decompressor: Callable[[], Any]
    start: re.Pattern[bytes]
    input_bytes: int = BLOCK_BYTES


COMPRESSIONS = {
    # Method, flags and the marks of how and where it was made are checked too: two bytes are few.
    ".gz": Compression(
        "gzip", Gzip, re.compile(rb"\x1f\x8b\x08[\0-\x1f].{4}[\0-\x04][\0-\x0d\xff]", re.DOTALL)
    ),
    ".bz2": Compression(
        "bz2", bz2.BZ2Decompressor, re.compile(rb"BZh[1-9](?:1AY&SY|\x17\x72\x45\x38\x50\x90)")
    ),
    ".xz": Compression(
        "xz", functools.partial(lzma.LZMADecompressor, memlimit=XZ_MEMORY_BYTES), re.compile(rb"\xfd7zXZ\0")
    ),
    ".zst": Compression("zst", Zst, re.compile(rb"\x28\xb5\x2f\xfd"), ZST_INPUT_BYTES),
    ".lz4": Compression("lz4", Lz4, re.compile(rb"\x04\x22\x4d\x18")),
}


def compression_of(path: str, start: bytes) -> Compression | None:
    r"""Returns the compression of a file, or None if the file is not compressed.

    The content decides. If it does not begin as any known compression, the extension of the name decides,
    unless the content is text: files from servers are often called `.gz` but saved decompressed.

    Example:

    >>> import gzip
    >>> [each and each.name for each in (compression_of("a.txt", gzip.compress(b"")),
    ...     compression_of("a.gz", b"Call me Ishmael."), compression_of("a.gz", b"\0\1"))]
    ['gzip', None, 'gzip']
    """
    for compression in COMPRESSIONS.values():
        if compression.start.match(start):
            return compression
    return None if looks_plain(start) else COMPRESSIONS.get(os.path.splitext(path)[1])


def looks_plain(start: bytes) -> bool:
    r"""Returns whether bytes may be text: they have a UTF-16 byte order mark, or no control characters.

    Example:

    >>> looks_plain("Käse".encode("latin-1")), looks_plain(b"\x1f\x8b\x08\0")
    (True, False)
    """
    return start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or not _BINARY.search(start)


def decompress(
    start: bytes, raw: BinaryIO, compression: Compression, members: list[tuple[int, int]] | None = None
) -> Iterator[bytes]:
    """Yields the content of one or more concatenated streams, in blocks of bounded size.

    Zeros between and after the streams are skipped, as padding.

    Raises:
        OSError: if the file itself cannot be read.
    """
    decompressor = None
    data, content_bytes, file_bytes = start, 0, 0
    while data := data or raw.read(compression.input_bytes):
        file_bytes += len(data)
        while data:
            if decompressor is None:
                data = data.lstrip(b"\0")
                if not data:
                    break
                decompressor = compression.new_decompressor()
                if members is not None:
                    members.append((content_bytes, file_bytes - len(data)))
            for block in blocks_of(decompressor, data, compression.name):
                content_bytes += len(block)
                yield block
            data = b""
            if decompressor.eof:
                data, decompressor = decompressor.unused_data, None
    if decompressor is not None:
        raise StreamError(f"truncated_{compression.name}")


def blocks_of(decompressor: Any, data: bytes, name: str) -> Iterator[bytes]:
    """Yields the decompressed form of some data, in blocks of bounded size."""
    try:
        while True:
            block = decompressor.decompress(data, BLOCK_BYTES)
            if block:
                yield block
            if decompressor.eof or decompressor.needs_input:
                return
            data = b""
    except (OSError, EOFError, lzma.LZMAError) as error:
        raise StreamError(f"corrupt_{name}") from error
