"""Files of somebody else: read if they are what they should be, and refused in a sentence if they are not."""

import contextlib
import json
from collections.abc import Iterator
from typing import Any

from firth import storage
from firth.interop.errors import InteropError

# The largest vocabularies that are published take a twentieth of it.
MOST_BYTES = 2**30
# A tokenizer of the `tokenizers` package nests by ten.
_DEEPEST = 64
# What reading a value of another shape than the one that is expected ends in.
_MISSHAPEN = (TypeError, AttributeError, KeyError, IndexError, RecursionError, OverflowError)


def check_file(path: str, most: int | None = MOST_BYTES) -> str:
    """Returns the path of a file, if it can be read to its end."""
    if reason := storage.why_no_file(path):
        raise InteropError(f"{path} cannot be read: {reason}")
    if most is not None and (size := storage.size_of(path)) > most:
        raise InteropError(f"{path} cannot be read: it has {size:,} bytes, more than {most:,}")
    return path


def read_bytes(path: str) -> bytes:
    """Returns the content of a file."""
    try:
        with storage.open_file(check_file(path)) as file:
            return file.read()
    except OSError as error:
        raise InteropError(f"{path} cannot be read: {error.strerror}") from None


def decoded_text(path: str) -> str:
    """Returns the text of a file of UTF-8, with the line ends that it has."""
    try:
        return read_bytes(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InteropError(f"{path}: is not UTF-8: {error}") from None


def read_json(path: str) -> Any:
    """Returns the value in a file of JSON."""
    text = decoded_text(path)
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise InteropError(f"{path}:{error.lineno}:{error.colno}: is not JSON: {error.msg}") from None
    except ValueError as error:
        raise InteropError(f"{path}: is not JSON: {error}") from None
    except RecursionError:
        raise InteropError(f"{path}: nests deeper than {_DEEPEST} levels") from None
    level = [value]
    for _ in range(_DEEPEST):
        level = [inner for each in level for inner in _inside(each) if isinstance(inner, list | dict)]
        if not level:
            return value
    raise InteropError(f"{path}: nests deeper than {_DEEPEST} levels")


def _inside(value: Any) -> Any:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def read_mapping(path: str) -> dict[str, Any]:
    """Returns the mapping in a file of JSON."""
    value = read_json(path)
    if not isinstance(value, dict):
        raise InteropError(f"{path}: must hold a mapping")
    return value


@contextlib.contextmanager
def expected_shape(path: str) -> Iterator[None]:
    """Makes an error of a sentence of values that have another shape than those that a format knows."""
    try:
        yield
    except _MISSHAPEN as error:
        raise InteropError(f"{path}: holds a value of another shape than is known: {error}") from error
