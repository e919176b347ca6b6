"""A record that could not be read, kept aside with its place."""

import dataclasses
import json

EXCERPT_BYTES = 80


@dataclasses.dataclass(frozen=True)
class Rejection:
    r"""A record that is no document, and why.

    Attributes:
        source: Name of the source in the recipe.
        file: Where the record stands.
        line: Its first line, from 1; in a file without lines, its number among the records; 0 where the
            file as a whole is meant.
        reason: One of a short list of words, such as `malformed_json`.
        size: Its bytes, as far as they were read.
        excerpt: How it begins.

    Example:

    >>> print(Rejection("web", "a.jsonl", 3, "invalid_utf8", 2, excerpt(b"\xff!")).to_json())
    {"source": "web", "file": "a.jsonl", "line": 3, "reason": "invalid_utf8", "size": 2, "excerpt": "\\xff!"}
    """

    source: str
    file: str
    line: int
    reason: str
    size: int
    excerpt: str

    def to_json(self) -> str:
        """Returns one line of ASCII: control and bidirectional characters are escaped."""
        return json.dumps(dataclasses.asdict(self))


def excerpt(data: bytes) -> str:
    """Returns the first `EXCERPT_BYTES` bytes as text, with what is not UTF-8 escaped."""
    return data[:EXCERPT_BYTES].decode("utf-8", "backslashreplace")
