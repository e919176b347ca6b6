"""Header fields of HTTP and WARC, parsed as leniently as crawlers and servers write them."""

import re

# Lines end in CRLF or in LF, and a blank line ends them.
HEADER_END = re.compile(rb"\n\r*\n")
_FOLD = re.compile(r"\n[ \t]+")


class HeaderFields:
    r"""The fields of a header.

    A line that begins with a space or tab continues the line before. A line without a colon is ignored.

    Example:

    >>> fields = HeaderFields(b"Content-Type: text/html;\n charset=utf-8\nnonsense\nX:\r\n")
    >>> fields.first("content-type"), fields.all("X"), fields.first("Y")
    ('text/html; charset=utf-8', [], '')
    """

    def __init__(self, lines: bytes) -> None:
        self._values: dict[str, list[str]] = {}
        for line in _FOLD.sub(" ", _decode(lines).replace("\r\n", "\n")).split("\n"):
            name, colon, value = line.partition(":")
            if colon:
                self._values.setdefault(name.strip().lower(), []).append(value.strip())

    def all(self, name: str) -> list[str]:
        """Returns the values of a field in their order, without empty ones."""
        return [value for value in self._values.get(name.lower(), []) if value]

    def first(self, name: str) -> str:
        """Returns the first value of a field that is not empty, or an empty string."""
        return next(iter(self.all(name)), "")


def _decode(lines: bytes) -> str:
    try:
        return lines.decode("utf-8")
    except UnicodeDecodeError:
        return lines.decode("latin-1")
