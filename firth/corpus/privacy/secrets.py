"""Keys and tokens."""

import math
import re
from collections import Counter
from collections.abc import Iterator

from firth.corpus.privacy.finder import Finder, Span, reshape
from firth.recipes.privacy import PiiStep

# What makes a key one that opens nothing; surrogates end with it.
_EXAMPLE = "EXAMPLE"
# Each key begins with something that a search finds quickly; of a pattern with a group, the group is the key.
_KEYS = tuple((beginning, re.compile(pattern)) for beginning, pattern in {
    "AKIA": r"(?<![A-Za-z0-9])AKIA[A-Z0-9]{16}(?![A-Za-z0-9])",
    "ASIA": r"(?<![A-Za-z0-9])ASIA[A-Z0-9]{16}(?![A-Za-z0-9])",
    "gh": r"(?<!\w)gh[pousr]_[A-Za-z0-9]{36,255}(?!\w)",
    "github_pat_": r"(?<!\w)github_pat_\w{22,255}",
    "glpat-": r"(?<!\w)glpat-[\w-]{20,64}",
    "xox": r"(?<!\w)xox[abeoprs]-[A-Za-z0-9-]{10,250}",
    "AIza": r"(?<!\w)AIza[\w-]{35}(?![\w-])",
    "_live_": r"(?<!\w)[sr]k_live_[A-Za-z0-9]{20,247}",
    "sk-": r"(?<!\w)sk-(?:[a-z]+-){0,3}[\w-]{32,200}(?![\w-])",
    "hf_": r"(?<!\w)hf_[A-Za-z]{34,40}(?!\w)",
    "npm_": r"(?<!\w)npm_[A-Za-z0-9]{36}(?!\w)",
    "SG.": r"(?<!\w)SG\.[\w-]{22}\.[\w-]{43}(?![\w-])",
    "eyJ": r"(?<![\w.-])eyJ[\w-]{10,4000}\.eyJ[\w-]{10,8000}\.[\w-]{16,4000}(?![\w-])",
    "PRIVATE KEY": (
        r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----\s*"
        r"((?:[A-Za-z0-9+/=:,.\\\s]|-(?!-)){16,20000}?)(?=\s{0,4}-----END|\s{0,4}\Z|\s{0,4}[^A-Za-z0-9+/=:,.\\\s-])"
    ),
}.items())  # fmt: skip
_PREFIX = re.compile(
    r"(?:AKIA|ASIA|gh[pousr]_|github_pat_|glpat-|xox.-|AIza|[sr]k_live_|sk-(?:[a-z]+-){0,3}|hf_|npm_|SG\.|eyJ)?"
)
_ASSIGNED = re.compile(
    r"[=:]>?\s{0,3}[\"']?([A-Za-z0-9+/_!@#^&*~-]{16,256}={0,2})(?![\w.(\[{$/])",
)
_NAME = re.compile(
    r"(?i)(?:passw(?:or)?d|pwd|secret|token|(?:api|access|auth|private|account)[_-]?key|credentials?)[\w-]{0,24}"
    r"[\"'\]]{0,2}\s{0,3}:?\Z"
)
_NAME_CHARACTERS = 64
_DIGIT_EDGE = re.compile(r"(?<=[A-Za-z])(?=\d)|(?<=\d)(?=[A-Za-z])")


class Secrets(Finder):
    """Keys of well-known shape, tokens, private keys, and what looks random and is assigned to a password.

    Of a private key the text between its marks is the value. What has `EXAMPLE` in it is a manual's key.
    """

    def __init__(self, config: PiiStep):
        self._min_entropy = config.min_secret_entropy

    def find(self, text: str) -> Iterator[Span]:  # noqa: D102
        found = [
            key.span(key.lastindex or 0)
            for beginning, pattern in _KEYS
            if beginning in text
            for key in pattern.finditer(text)
        ]
        for value in _ASSIGNED.finditer(text):
            start = value.start()
            if self._is_random(value[1]) and _NAME.search(text, max(0, start - _NAME_CHARACTERS), start):
                found.append(value.span(1))
        yield from sorted(span for span in found if _EXAMPLE not in text[slice(*span)])

    def _is_random(self, value: str) -> bool:
        """Returns whether letters and digits are mixed as no name or number mixes them."""
        if len(_DIGIT_EDGE.findall(value)) < 3:
            return False
        counts = Counter(value).values()
        return -sum(n / len(value) * math.log2(n / len(value)) for n in counts) >= self._min_entropy

    def accepts(self, value: str) -> bool:  # noqa: D102
        return any(self.find(value))

    def reshape(self, value: str, key: bytes) -> str:  # noqa: D102
        prefix = _PREFIX.match(value)
        kept = prefix.end() if prefix else 0
        return value[:kept] + reshape(value[kept : -len(_EXAMPLE)], key) + _EXAMPLE
