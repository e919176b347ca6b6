"""Detection of secret keys and tokens."""

import math
import pathlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from firth.corpus.privacy.finder import Finder, Run, Span, reshape, without_overlaps

# A string that marks a key as an example. Surrogates end with it.
_EXAMPLE = "EXAMPLE"
# A string in each key that is quick to find, and the pattern of the key. If it has a group, that is the key.
# The first part of a key of Discord (`iscord`) is the account's number in base 64.
_ROWS = pathlib.Path(__file__).with_name("secret_keys.tsv").read_text(encoding="utf-8").splitlines()
_KEYS = tuple((row.partition("\t")[0], re.compile(row.partition("\t")[2])) for row in _ROWS)
# Keys other than those in _ANYWHERE are part of a word of at least this many characters, which is rare.
_MIN_KEY_CHARACTERS = 20
_ANYWHERE = ("xox", "PRIVATE KEY", "Basic ", "iscord")
_PREFIX = re.compile(
    r"(?:AKIA|ASIA|gh[pousr]_|github_pat_|glpat-|xox.-|AIza|[sr]k_live_|sk-(?:[a-z]+-){0,3}|hf_|npm_|SG\.|eyJ"
    r"|ntn_|shp.._|sq0...-|dapi|lin_api_|dckr_pat_|hvs\.|glsa_|figd_|PMAK-|GOCSPX-|pypi-)?"
)
_ASSIGNED = re.compile(
    r"[=:]>?\s{0,3}[\"']?([A-Za-z0-9+/_!@#$%^&*~-]{16,256}={0,2})(?![\w.(\[{$/])",
)
_NAME = re.compile(
    r"(?i)(?:passw(?:or)?d|pwd|secret|token|(?:api|access|auth|private|account|secret)[_-]?key|apikey|credentials?)"
    r"[\w-]{0,24}[\"'\]]{0,2}\s{0,3}:?\Z"
)
_NAME_CHARACTERS = 64
# Each name that _NAME matches contains one of these.
_NAMES = ("passw", "pwd", "secret", "token", "key", "credential")
_DIGIT_EDGE = re.compile(r"(?<=[A-Za-z])(?=\d)|(?<=\d)(?=[A-Za-z])")
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
_IDENTIFIER = re.compile(r"[$/~%].*|[A-Za-z]+(?:[_.-][A-Za-z0-9]+)+\d*|[a-z]+(?:[A-Z][a-z0-9]+)+|\d+-[a-z-]+")
_KINDS = (re.compile(r"\d"), re.compile(r"[^\W\d_]"), re.compile(r"[^\w.:?]"))


class Secrets(Finder):
    """Finds keys and tokens of known forms, private keys, passwords, and random strings assigned to a secret.

    The value of a private key is the text between its marks. Values with `EXAMPLE` in them are from manuals
    and are not found.
    """

    def find(self, text: str, runs: Sequence[Run]) -> Iterator[Span]:  # noqa: D102
        long = " ".join([word for word in text.split() if len(word) >= _MIN_KEY_CHARACTERS])
        found = [
            key.span(key.lastindex or 0)
            for beginning, pattern in _KEYS
            if beginning in (text if beginning in _ANYWHERE else long)
            for key in pattern.finditer(text)
        ]
        found += find_passwords(text)
        small = text.casefold()
        is_named = any(name in small for name in _NAMES)
        for value in _ASSIGNED.finditer(text) if is_named else ():
            start = value.start()
            if self._is_random(value[1]) and _NAME.search(text, max(0, start - _NAME_CHARACTERS), start):
                found.append(value.span(1))
        real = [span for span in found if _EXAMPLE not in text[slice(*span)]]
        yield from without_overlaps(sorted(real, key=lambda span: (span[0], -span[1])))

    def _is_random(self, value: str) -> bool:
        """Returns whether letters and digits are mixed as in no name or number."""
        if len(_DIGIT_EDGE.findall(value)) < 3:
            return False
        shares = [n / len(value) for n in Counter(value).values()]
        return -sum(share * math.log2(share) for share in shares) >= self._config.min_secret_entropy

    def reshape(self, value: str, key: bytes) -> str:  # noqa: D102
        prefix = _PREFIX.match(value)
        kept = prefix.end() if prefix else 0
        return value[:kept] + reshape(value[kept : -len(_EXAMPLE)], key) + _EXAMPLE


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
        and not _IDENTIFIER.fullmatch(value)
    )
