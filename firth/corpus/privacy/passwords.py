"""Detection of passwords chosen by people, if the text names them as passwords."""

import re
from collections.abc import Iterator

from firth.corpus.privacy.finder import Span

# Words without their first letter, since that may be a capital.
_WORDS = (
    "assword", "ASSWORD", "asswd", "ASSWD", "pwd", "PWD", "DB_PASS", "_pass", "asswort", "ot de passe",
    "ontrase", "senha",
)  # fmt: skip
_VALUE = re.compile(
    r"(?:ñ|n)?a?[\"']?(?:\s{0,3}(?:[:=]|=>)\s{0,3}| (?:is|ist|est|es|é)(?: now)?:? {1,2}| )[\"']?"
    r"([^\s\"'<>(){}\[\]\0,;]{6,64})"
)
# User and password of a URL, and of the program curl.
_URL = re.compile(r"://[^\s:/@\"'<>]{0,64}:([^\s/@\"'<>{}]{3,128})@(?=[\w\[])")
_CURL = re.compile(r"(?:-u|--user)[ =][\"']?[\w.@-]{1,64}:([^\s\"'<>{}$]{6,64})")
_MASKED = re.compile(r"(?i)[*x.•]+|(?:my|your)?[_-]?(?:passw(?:or)?d|pass|pwd|guest|secret|anonymous)")
# A name in a program, a file, a variable.
_NAME = re.compile(r"[$/~%].*|[A-Za-z]+(?:[_.-][A-Za-z0-9]+)+\d*|[a-z]+(?:[A-Z][a-z0-9]+)+|\d+-[a-z-]+")
_KINDS = (re.compile(r"\d"), re.compile(r"[^\W\d_]"), re.compile(r"[^\w.:?]"))


def find_passwords(text: str) -> Iterator[Span]:
    """Yields the spans of passwords in URLs, options, assignments and sentences (`my password is x1y2z3`)."""
    if "://" in text:
        for found in _URL.finditer(text):
            if not _MASKED.fullmatch(found[1]) and not found[1].startswith("$"):
                yield found.span(1)
    if "-u" in text:
        yield from (found.span(1) for found in _CURL.finditer(text) if not _MASKED.fullmatch(found[1]))
    for word in _WORDS:
        at = text.find(word)
        while at >= 0:
            assigned = _VALUE.match(text, at + len(word))
            value = assigned[1].rstrip(".,!?:") if assigned else ""
            if assigned and _is_password(value):
                yield assigned.start(1), assigned.start(1) + len(value)
            at = text.find(word, at + len(word))


def _is_password(value: str) -> bool:
    """Returns whether a string mixes digits, letters and signs in a way that words do not."""
    kinds = [bool(kind.search(value)) for kind in _KINDS]
    return (
        len(value) >= 6
        and kinds[1]
        and (kinds[0] or (kinds[2] and not re.fullmatch(r"[\w-]+", value)))
        and not _MASKED.fullmatch(value)
        and not _NAME.fullmatch(value)
    )
