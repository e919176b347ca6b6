"""Decompression as a stream: bounded in memory, and strict about how a stream ends."""

import bz2
import functools
import lzma
import zlib
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, NamedTuple

BLOCK_BYTES = 2**18
# zstandard hands out all that its input amounts to, 128 KiB for every 4 bytes at worst.
ZST_INPUT_BYTES = 2**9
# `xz -9` asks for a quarter of it; a broken header may ask for gigabytes.
XZ_MEMORY_BYTES = 2**28


class StreamError(OSError):
    """A compressed stream that ends too early or is none. `reason` names the compression."""

    def __init__(self, reason: str):
        super().__init__(reason)
        self.reason = reason


class _Adapter:
    """What decompressors of other interfaces have in common with those for bz2 and xz."""

    _inner: Any

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data


class _Gzip(_Adapter):
    """zlib's decompressor with the interface of those for bz2 and xz."""

    def __init__(self) -> None:
        self._inner = zlib.decompressobj(wbits=31)
        self.needs_input = True

    def decompress(self, data: bytes, max_length: int) -> bytes:
        block = self._inner.decompress(self._inner.unconsumed_tail + data, max_length)
        self.needs_input = len(block) < max_length
        return block


class _Zst(_Adapter):
    """zstandard's decompressor with the interface of those for bz2 and xz."""

    needs_input = True

    def __init__(self) -> None:
        import zstandard

        self._inner = zstandard.ZstdDecompressor().decompressobj()

    def decompress(self, data: bytes, max_length: int) -> bytes:
        del max_length  # The input is short instead.
        return self._inner.decompress(data) if data else b""


class Compression(NamedTuple):
    """How a compression is called in reasons of rejection, and how its streams are read."""

    name: str
    new_decompressor: Callable[[], Any]
    input_bytes: int = BLOCK_BYTES


COMPRESSIONS = {
    ".gz": Compression("gzip", _Gzip),
    ".bz2": Compression("bz2", bz2.BZ2Decompressor),
    ".xz": Compression("xz", functools.partial(lzma.LZMADecompressor, memlimit=XZ_MEMORY_BYTES)),
    ".zst": Compression("zst", _Zst, ZST_INPUT_BYTES),
}


def decompress(raw: BinaryIO, compression: Compression) -> Iterator[bytes]:
    """Yields what streams of one compression, one after another, hold, in blocks of bounded size.

    Zeros between and after streams are padding.

    Raises:
        StreamError: `truncated_<name>` or `corrupt_<name>`, after everything before it has been yielded.
        OSError: from the file itself.
    """
    decompressor = None
    while data := raw.read(compression.input_bytes):
        while data:
            if decompressor is None:
                data = data.lstrip(b"\0")
                if not data:
                    break
                decompressor = compression.new_decompressor()
            yield from _blocks(decompressor, data, compression.name)
            data = b""
            if decompressor.eof:
                data, decompressor = decompressor.unused_data, None
    if decompressor is not None:
        raise StreamError(f"truncated_{compression.name}")


def _blocks(decompressor: Any, data: bytes, name: str) -> Iterator[bytes]:
    import zstandard

    try:
        while True:
            block = decompressor.decompress(data, BLOCK_BYTES)
            if block:
                yield block
            if decompressor.eof or decompressor.needs_input:
                return
            data = b""
    except (zlib.error, OSError, EOFError, lzma.LZMAError, zstandard.ZstdError) as error:
        raise StreamError(f"corrupt_{name}") from error
