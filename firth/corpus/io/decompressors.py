"""Decompressors of one stream each, all with the interface and the errors of `bz2.BZ2Decompressor`."""

import zlib
from typing import Any


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
        """Whether further output needs further input."""
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
        """Whether the stream has ended."""
        return self._inner.is_finished()

    @property
    def needs_input(self) -> bool:
        """Whether further output needs further input."""
        return self._inner.can_accept_more_data()

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """Returns the next decompressed bytes."""
        import brotli

        try:
            return self._inner.process(data, output_buffer_limit=max_length)
        except brotli.error as error:
            raise OSError(str(error)) from error
