"""The text and the lines of files, compressed or not."""

import codecs
import gzip
import os
import re
import zlib
from collections.abc import Iterator

from firth import storage
from firth.tasks.readers.records import RefusedFileError, RejectedRecordError, check_utf8

_GZIP = b"\x1f\x8b"
_BETWEEN_SPACES = re.compile(r"[^ \t\n\r]+")
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def text_of(path: str | os.PathLike[str]) -> str:
    """Returns the text of a file without its byte order mark.

    Bytes that are not UTF-8 become lone surrogates, which `checked_text` rejects with the record they are in.
    """
    if not storage.exists(path) or storage.is_folder(path):
        raise RefusedFileError(f"{path}: there is no such file")
    with storage.open_file(path) as file:
        data = file.read()
    if data.startswith(_GZIP):
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise RefusedFileError(f"{path}: gzip's data cannot be read: {error}") from error
    if data.startswith(_UTF_16):
        raise RefusedFileError(f"{path}: this is UTF-16; save it as UTF-8")
    return data.removeprefix(codecs.BOM_UTF8).decode("utf-8", "surrogateescape")


def lines_of(path: str | os.PathLike[str]) -> Iterator[str]:
    r"""Yields the lines of a file with their `\n`, one after another, as `text_of` decodes them."""
    if not storage.exists(path) or storage.is_folder(path):
        raise RefusedFileError(f"{path}: there is no such file")
    with storage.open_file(path) as file:
        first = file.read(len(_GZIP))
        file.seek(0)
        lines = iter(gzip.GzipFile(fileobj=file) if first == _GZIP else file)
        mark = codecs.BOM_UTF8
        try:
            for line in lines:
                if mark and line.startswith(_UTF_16):
                    raise RefusedFileError(f"{path}: this is UTF-16; save it as UTF-8")
                yield line.removeprefix(mark).decode("utf-8", "surrogateescape")
                mark = b""
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise RefusedFileError(f"{path}: gzip's data cannot be read: {error}") from error


def numbered_lines(text: str) -> Iterator[tuple[int, str]]:
    r"""Yields the lines of a text with their numbers, from 1, without `\n` or `\r\n`.

    Other characters that Python splits lines at, such as U+2028, are in the texts of MNLI and QQP.

    Example:

    >>> list(numbered_lines("a\r\nb\u2028c\n"))
    [(1, 'a'), (2, 'b\u2028c'), (3, '')]
    """
    for number, line in enumerate(text.split("\n"), 1):
        yield number, line.removesuffix("\r")


def split_at_spaces(text: str) -> list[str]:
    r"""Returns the parts of a text between spaces, tabs and line ends.

    Other white space of Unicode, such as the space in `10\u00a0000`, is a part of words.

    Example:

    >>> split_at_spaces(" 10\u00a0000\tmen ")
    ['10\xa0000', 'men']
    """
    return _BETWEEN_SPACES.findall(text)


def checked_text(text: object, name: str) -> str:
    """Returns a text that can be trained on."""
    if not isinstance(text, str):
        raise RejectedRecordError("not_text", f"{name} is {text!r}, not a text")
    if not text or text.isspace():
        raise RejectedRecordError("empty_text", f"{name} is empty")
    return check_utf8(text, name)
