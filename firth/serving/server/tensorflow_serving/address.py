"""Addresses of TF Serving's REST: a model, one of its versions or labels, and a verb."""

import re
import urllib.parse
from typing import NamedTuple

from firth.serving.server.errors import RequestError

_MODEL = r"(?i:/v1/models)/([^/:]+)(?:/versions/([0-9]+)|/labels/([^/:]+))?"
_ADDRESSES = {
    "POST": re.compile(_MODEL + r":(classify|regress|predict)"),
    "GET": re.compile(_MODEL + r"(?:/(metadata))?"),
}
# Versions have 64 bits with a sign.
_HIGHEST = 2**63 - 1


class Address(NamedTuple):
    """An address.

    Attributes:
        model: Name of the model.
        version: Its version; None for the newest, or that of the label.
        label: Label of the version.
        verb: `predict`, `classify` or `regress` of POST, `metadata` of GET; empty for the status.
    """

    model: str
    version: int | None = None
    label: str | None = None
    verb: str = ""


def read_address(method: str, path: str) -> Address:
    """Returns the address of a request.

    Args:
        method: `GET` or `POST`.
        path: Path of the request, as it was sent, with `%2F` for a slash in a name.

    Raises:
        RequestError: if there is no such address.

    Example:

    >>> read_address("POST", "/v1/models/half%2Btwo/versions/3:predict")
    Address(model='half+two', version=3, label=None, verb='predict')
    """
    found = _ADDRESSES[method].fullmatch(path)
    if found is None:
        if method == "GET" and path.rstrip("/").lower() == "/v1/models":
            raise RequestError("Missing model name in request.")
        raise RequestError(f"Malformed request: {method} {path[:256]}")
    model, version, label, verb = found.groups()
    # The digits are counted first: Python converts no more than a few thousand of them.
    if version and (len(version) > 19 or int(version) > _HIGHEST):
        raise RequestError(f"Failed to convert version: {version[:32]} to numeric.", 400, "version")
    return Address(
        _decoded(model), int(version) if version else None, _decoded(label) if label else None, verb or ""
    )


def _decoded(part: str) -> str:
    try:
        return urllib.parse.unquote(part, errors="strict")
    except UnicodeDecodeError:
        raise RequestError(f"Failed to decode {part[:256]}: not UTF-8") from None
