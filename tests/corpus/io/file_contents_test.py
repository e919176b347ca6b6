import gzip
import os
import tracemalloc
import zlib

import pytest

from firth.corpus.io.file_contents import BLOCK_BYTES, RawRecord, read_blocks, read_lines

TABLE = {
    "nothing": (b"", []),
    "no last line feed": (b"ab\nc", [RawRecord(1, b"ab", 2), RawRecord(2, b"c", 1)]),
    "blank lines": (b"\n\na\n", [RawRecord(1, b"", 0), RawRecord(2, b"", 0), RawRecord(3, b"a", 1)]),
    "at the limit": (b"abcd\n", [RawRecord(1, b"abcd", 4)]),
    "above the limit": (b"abcdefg\nok\n", [RawRecord(1, b"abcde", 7, "too_long"), RawRecord(2, b"ok", 2)]),
}


@pytest.mark.parametrize("suffix", [".txt", ".txt.gz"])
@pytest.mark.parametrize("name", TABLE)
def test_lines(tmp_path, name, suffix):
    content, lines = TABLE[name]
    path = tmp_path / f"file{suffix}"
    path.write_bytes(gzip.compress(content) if suffix.endswith("gz") else content)
    assert list(read_lines(str(path), max_bytes=4)) == lines


def test_line_over_many_blocks(tmp_path):
    path = tmp_path / "long.txt"
    path.write_bytes(b"x" * (3 * BLOCK_BYTES) + b"\nend")
    first, last = read_lines(str(path), max_bytes=10)
    assert (first.size, len(first.data), first.problem) == (3 * BLOCK_BYTES, 11, "too_long")
    assert last == RawRecord(2, b"end", 3)


def test_an_enormous_line_takes_no_memory(tmp_path):
    path = tmp_path / "enormous.txt"
    with open(path, "wb") as file:
        file.truncate(2**28)
    tracemalloc.start()
    (line,) = read_lines(str(path), max_bytes=1000)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (line.size, line.problem) == (2**28, "too_long")
    assert peak < 8 * BLOCK_BYTES


def test_truncated_gzip_keeps_the_lines_before(tmp_path):
    path = tmp_path / "cut.gz"
    lines = [os.urandom(30).hex().encode() for _ in range(20_000)]
    whole = gzip.compress(b"\n".join(lines))
    cut = whole[: len(whole) // 2]
    path.write_bytes(cut)
    readable = zlib.decompressobj(wbits=31).decompress(cut).count(b"\n")
    *kept, last = read_lines(str(path), max_bytes=100)
    assert len(kept) == readable > 5_000
    assert [line.data for line in kept] == lines[: len(kept)]
    assert (last.number, last.problem) == (len(kept) + 1, "truncated_gzip")


@pytest.mark.parametrize(
    "content", [b"no gzip at all\0", gzip.compress(b"a\n" * 99)[:-8] + bytes(8)], ids=["no gzip", "wrong sum"]
)
def test_corrupt_gzip(tmp_path, content):
    path = tmp_path / "bad.gz"
    path.write_bytes(content)
    assert list(read_lines(str(path), max_bytes=100))[-1].problem == "corrupt_gzip"


def test_a_file_that_cannot_be_opened(tmp_path):
    assert [line.problem for line in read_lines(str(tmp_path / "none"), 9)] == ["unreadable"]
    with pytest.raises(OSError):
        list(read_blocks(str(tmp_path / "none")))
