"""JSON as TF Serving reads and writes it: NaN and infinities as tokens, floats with a point."""

import base64
import json
import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf

from firth.serving.server.errors import RequestError

# Lists and objects nested deeper are read as null, which no tensor takes: Python's reader recurses.
DEEPEST = 100
# Outputs of strings with this ending are bytes, and are written as objects.
BYTES_SUFFIX = "_bytes"

# One without an end too, lest the rest of the text is searched again from each of its quotes.
_STRING = r'"[^"\\]*(?:\\(?s:.)[^"\\]*)*"?'
_NON_FINITE = re.compile(rf"{_STRING}|-?(?:NaN|Inf(?:inity)?)\b")
_BRACKETS = re.compile(rf"{_STRING}|[\[\]{{}}]")
# A pair of surrogates, half of one, or any other escape.
_HEX = "[0-9a-fA-F]"
_ESCAPES = re.compile(
    rf"\\(?:u[dD][89abAB]{_HEX}{{2}}\\u[dD][c-fC-F]{_HEX}{{2}}|(u[dD][89a-fA-F])|.)", re.DOTALL
)
_LARGE = re.compile(r"[eE]\+?\d{3}|\d{300}")


def read_object(body: bytes) -> dict[str, Any]:
    """Returns the object of a request's body.

    Example:

    >>> read_object(b'{"instances": [1.0, -Infinity]}')
    {'instances': [1.0, -inf]}
    """
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise RequestError(
            f'JSON Parse error: byte {error.start} is not UTF-8; write bytes as {{"b64": "..."}}'
        ) from None
    if not text.strip():
        raise RequestError("JSON Parse error: The document is empty")
    try:
        try:
            found = _read(text)
        except RecursionError:
            found = _read(_without_depths(text))
    except json.JSONDecodeError as error:
        place = f"at line {error.lineno}, column {error.colno}"
        raise RequestError(f"JSON Parse error: Invalid value: {error.msg} {place}") from None
    except ValueError as error:
        raise RequestError(f"JSON Parse error: {error}") from None
    if any(escape[1] for escape in _ESCAPES.finditer(text)):
        raise RequestError("JSON Parse error: a string has half of a surrogate pair")
    if not isinstance(found, dict):
        raise RequestError(f"the request is {quoted(found)}, not a JSON object")
    return found


def _read(text: str) -> Any:
    parse_float = _finite if _LARGE.search(text) else None
    try:
        return json.loads(text, parse_float=parse_float)
    except json.JSONDecodeError:
        # TF Serving's reader also takes Inf, -Inf and -NaN.
        spelled = _NON_FINITE.sub(_as_python_reads, text)
        if spelled == text:
            raise
        return json.loads(spelled, parse_float=parse_float)


def _finite(token: str) -> float:
    if math.isinf(number := float(token)):
        raise ValueError(f"the number {token[:32]} is too large for a float64")
    return number


def _as_python_reads(token: re.Match[str]) -> str:
    text = token[0]
    if text.startswith('"'):
        return text
    if text.endswith("NaN"):
        return "NaN"
    return "-Infinity" if text.startswith("-") else "Infinity"


def _without_depths(text: str) -> str:
    kept, depth, since = [], 0, 0
    for token in _BRACKETS.finditer(text):
        if token[0] in "[{":
            depth += 1
            if depth == DEEPEST + 1:
                kept += [text[since : token.start()], "null"]
        elif token[0] in "]}":
            depth -= 1
            if depth == DEEPEST:
                since = token.end()
    return "".join([*kept, text[since:] if depth <= DEEPEST else ""])


def quoted(value: Any) -> str:
    """Returns a short form of a JSON value for an error.

    Example:

    >>> quoted([1, 2]), quoted("a"), quoted(None), quoted({"b": 1})
    ('a list of 2', '"a"', 'null', 'an object')
    """
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, int) and not -(2**64) < value < 2**64:
        return "an integer of more than 64 bits"
    return json.dumps(value[:64] if isinstance(value, str) else value)


def tensor_text(name: str, array: npt.NDArray[Any]) -> str:
    """Returns a tensor as nested lists of JSON; a scalar as a value.

    Args:
        name: Name of the tensor; strings of one with `BYTES_SUFFIX` are written as bytes.
        array: Its values.

    Raises:
        RequestError: for a dtype that JSON has no values for.

    Example:

    >>> tensor_text("y", np.array([[2.5, np.nan], [1e9, 3]], np.float32))
    '[[2.5, NaN], [1e+09, 3.0]]'
    """
    return _nested(_tokens(name, array), array.shape, 0)[0]


def row_texts(name: str, array: npt.NDArray[Any]) -> list[str]:
    """Returns each row of a tensor as JSON.

    Args:
        name: As in `tensor_text`.
        array: Its values, with at least one axis.
    """
    return _nested(_tokens(name, array), array.shape, 1)


def _nested(tokens: list[str], shape: Sequence[int], first: int) -> list[str]:
    for axis in reversed(range(first, len(shape))):
        size = shape[axis]
        starts = (index * size for index in range(math.prod(shape[:axis])))
        tokens = [f"[{', '.join(tokens[start : start + size])}]" for start in starts]
    return tokens


def _tokens(name: str, array: npt.NDArray[Any]) -> list[str]:
    dtype = tf.as_dtype(array.dtype)
    flat = array.ravel()
    if dtype == tf.string:
        as_bytes = name.endswith(BYTES_SUFFIX)
        return [_string_token(value, as_bytes) for value in flat.tolist()]
    if dtype.is_bool:
        return ["true" if value else "false" for value in flat.tolist()]
    if dtype.is_integer and not dtype.is_quantized:
        return [str(value) for value in flat.tolist()]
    if dtype.is_floating:
        return decimals(flat if dtype.size >= 4 else flat.astype(np.float32))
    raise RequestError(f"{name}: there are no JSON values for a tensor type: {dtype.name}")


def _string_token(value: bytes | str, as_bytes: bool) -> str:
    raw = value.encode() if isinstance(value, str) else value
    if not as_bytes:
        try:
            return json.dumps(raw.decode(), ensure_ascii=False)
        except UnicodeDecodeError:
            # No JSON string holds them.
            pass
    return f'{{"b64": "{base64.b64encode(raw).decode()}"}}'


def decimals(values: npt.NDArray[Any]) -> list[str]:
    """Returns floats in six digits, or in as many as read back the same, with a point or an exponent.

    Args:
        values: float32 or float64 [values].

    Example:

    >>> decimals(np.array([9e6, 999999, 0.5, 555557.5, -np.inf], np.float32))
    ['9e+06', '999999.0', '0.5', '555557.5', '-Infinity']
    """
    numbers = values.tolist()
    short = [f"{number:g}" for number in numbers]
    with np.errstate(over="ignore"):
        alike = np.array([float(text) for text in short]).astype(values.dtype) == values
    longer = repr if values.dtype == np.float64 else "{:.9g}".format
    return [
        _with_point(text if same else longer(number)) for text, same, number in zip(short, alike, numbers)
    ]


_NAMES = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}


def _with_point(text: str) -> str:
    if "." in text or "e" in text:
        return text
    return _NAMES.get(text) or f"{text}.0"
