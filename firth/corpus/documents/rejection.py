"""A record that could not be read, kept aside with its place."""

import dataclasses
import json
import re
from typing import Protocol

EXCERPT_CHARACTERS = 80
# A value that is cut is not known for what it is. The longest that is found is a token of 16,000 characters.
BEGINNING_BYTES = EXCERPT_CHARACTERS + 2**14
_JSON_ESCAPE = re.compile(r"\\u([0-9A-Fa-f]{4})|\\([nrt])")
_JSON_CONTROLS = {"n": "\n", "r": "\r", "t": "\t"}
# Unicode's control characters, other than spaces.
_UNSEEN = re.compile("[\0-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]+")
_UNDECODED = re.compile("[\udc80-\udcff]")


class Scrubber(Protocol):
    """What takes personal data out of the beginning of a text, such as `firth.corpus.privacy.pii.Pii`."""

    def scrub_beginning(self, text: str, characters: int) -> str:
        """Returns the first characters of a text without personal data, nor a part of it."""


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
        beginning: Its first `BEGINNING_BYTES` bytes, which are nowhere written as they are.

    Example:

    >>> from firth.corpus.privacy.pii import Pii
    >>> from firth.recipes.corpus.privacy import PiiStep
    >>> rejection = Rejection("web", "a.jsonl", 3, "invalid_utf8", 2, b"\xff!")
    >>> print(rejection.to_json(Pii(PiiStep(kind="pii"))))
    {"source": "web", "file": "a.jsonl", "line": 3, "reason": "invalid_utf8", "size": 2, "excerpt": "\\xff!"}
    """

    source: str
    file: str
    line: int
    reason: str
    size: int
    beginning: bytes = dataclasses.field(repr=False)

    def to_json(self, scrubber: Scrubber) -> str:
        """Returns one line of ASCII: control and bidirectional characters are escaped."""
        shown = dataclasses.asdict(self)
        del shown["beginning"]
        return json.dumps({**shown, "excerpt": self.excerpt(scrubber)})

    def excerpt(self, scrubber: Scrubber) -> str:
        """Returns how the record begins, without personal data, and with what is not UTF-8 escaped.

        Control characters are left out, since zeros would hide the words of UTF-16, and escapes of JSON are
        read. Of a record that was cut early the excerpt is empty: its last value may have been cut too.
        """
        if len(self.beginning) < min(self.size, BEGINNING_BYTES):
            return ""
        text = scrubber.scrub_beginning(_readable(self.beginning), EXCERPT_CHARACTERS)
        return _UNDECODED.sub(lambda byte: f"\\x{ord(byte[0]) - 0xDC00:02x}", text)


def _readable(data: bytes) -> str:
    text = _JSON_ESCAPE.sub(_unescape, data.decode("utf-8", "surrogateescape"))
    return _UNSEEN.sub("", text)


def _unescape(escape: re.Match[str]) -> str:
    return chr(int(escape[1], 16)) if escape[1] else _JSON_CONTROLS[escape[2]]
