"""A record that could not be read, with its place and the reason."""

import dataclasses
import json
import re
from typing import Protocol

EXCERPT_CHARACTERS = 80
# A value that is cut is not recognised. The longest one that is found is a token of 16,000 characters.
BEGINNING_BYTES = EXCERPT_CHARACTERS + 2**14
_JSON_ESCAPE = re.compile(r"\\u([0-9A-Fa-f]{4})|\\([nrt])")
_JSON_CONTROLS = {"n": "\n", "r": "\r", "t": "\t"}
# Unicode's control characters, other than spaces.
_UNSEEN = re.compile("[\0-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]+")
_UNDECODED = re.compile("[\udc80-\udcff]")


class Scrubber(Protocol):
    """Removes personal data from texts, as `firth.corpus.privacy.pii.Pii` does."""

    def scrub_address(self, text: str) -> str:
        """Returns an address, or the name of a file, with all personal data replaced."""

    def scrub_beginning(self, text: str, characters: int) -> str:
        """Returns the first characters of a text with all personal data replaced."""


@dataclasses.dataclass(frozen=True)
class Rejection:
    r"""A record that could not be read as a document.

    Attributes:
        source: Name of the source in the recipe.
        file: Path of the file with the record.
        line: Number of the record's first line, from 1; in a file without lines, the number of the record; 0
            if the whole file is rejected.
        reason: One of a short list of words, such as `malformed_json`.
        size: Length of the record in bytes, as far as it was read.
        beginning: The first bytes of the record, at most `BEGINNING_BYTES`. They may hold personal data, and
            are never written to a file as they are.

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
        """Returns the rejection as a line of ASCII JSON; control and bidirectional characters are escaped."""
        shown = dataclasses.asdict(self)
        del shown["beginning"]
        return json.dumps(
            {**shown, "file": scrubber.scrub_address(self.file), "excerpt": self.excerpt(scrubber)}
        )

    def excerpt(self, scrubber: Scrubber) -> str:
        """Returns the beginning of the record without personal data, with bytes that are not UTF-8 escaped.

        Control characters are left out, since zeros would hide the words of UTF-16, and JSON's escapes are
        decoded. The excerpt of a record that was cut early is empty, because personal data at the cut would
        not be found.
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
