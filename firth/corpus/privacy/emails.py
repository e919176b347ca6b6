"""Detection of e-mail addresses, also of those disguised from programs."""

import functools
import re
from collections.abc import Iterator, Sequence

from firth.corpus.privacy.finder import Finder, Run, Span, reshape, without_overlaps

_MAX_LOCAL_CHARACTERS = 64
_MAX_USER_CHARACTERS = 128
# Read from the right, so that it ends where no further character belongs to it.
_LOCAL_REVERSED = re.compile(r"[\w.+%'-]*[^\W_]|\"[^\"\n\0@]{1,62}\"")
# In scripts that put no space between words, an address in Latin letters begins after the last of them.
_BEFORE_LATIN = re.compile(r".*[\u0e00-\u0e7f\u3040-\u9fff\uac00-\ud7af](?=[A-Za-z0-9])", re.DOTALL)
# `user@host:path` is the place of a repository or a file, not a mailbox.
_PATH = re.compile(r"(?<!\]):[\w/~]")
_DOMAIN = re.compile(
    r"(?:(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.)+(?:xn--[a-z0-9-]{2,20}|[^\W\d_]{2,24})(?![\w@-](?<!_)|\.[^\W_])"
    r"|\[(?:IPv6:)?[0-9A-Fa-f:.]{7,45}\])"
)
_LATIN_DOMAIN = re.compile(
    r"(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z]{2,24}(?![A-Za-z0-9@-])"
)
# Domains reserved for examples (RFC 2606, RFC 6761), and ends of file names such as `icon@2x.png`.
_NOBODYS = re.compile(
    r"(?:.*\.)?(?:example\.(?:com|net|org|edu)|(?:example|test|invalid|local|localhost"
    r"|png|jpe?g|gif|svg|webp|css|js|json|html?|txt))\Z"
)
_SIGNS = ("@", "＠", "&#64;", "&commat;", "%40")
# User and password of a URL.
_USER = re.compile(r"://[^\s/@\"'<>]*\Z")
_TOP = (
    r"(?:com|org|net|edu|gov|info|biz|dev|io|me|app|name|a[etu]|b[egr]|c[ahlnoz]|de|dk|e[esu]|f[ir]|gr|h[kru]|i[elnt]"
    r"|jp|kr|lt|mx|n[loz]|p[lt]|r[ou]|s[eg]|t[rw]|u[ak]|us|za)"
)
_DOT = r"(?:\.|\s?[\[({<]\s?(?:dot|d0t|\.|punkt|punto|ponto|point|kropka|tečka)\s?[\])}>]\s?|\s(?:dot|DOT)\s)"
_HIDDEN = re.compile(
    r"[\[({<]\s?(?:at|a|@|ät|à|arobase|arroba|chiocciola|klammeraffe|małpa|zavináč)\s?[\])}>]\s?"
    rf"[\w-]{{1,63}}(?:{_DOT}[\w-]{{1,63}}){{1,4}}",
    re.IGNORECASE,
)
_SPACED = re.compile(rf" ?@ (?:[a-z0-9-]{{2,63}}\.){{1,3}}{_TOP}(?![\w(\[.-])")
_NAME = re.compile(r"[^\W_][\w.+-]{0,63}\s?\Z")
_SPOKEN = re.compile(
    rf"[^\W_][\w.+-]{{0,63}}(?: at | AT |_at_)[\w-]{{2,63}}?(?:(?: dot | DOT |_dot_|\.)[\w-]{{2,63}}?){{0,3}}"
    rf"(?: dot | DOT |_dot_)(?i:{_TOP})(?!\w)"
)
# A pattern that begins with letters is looked for quicker than they are.
_SPOKEN_DOT = re.compile("dot[ _]")
_MENTION = re.compile(
    r"(?i)mail|contact|kontakt|write|writing|reach|address|drop a line|ask|yell|ping|message"
)
_MENTION_CHARACTERS = 48
_EXAMPLE_DOMAINS = ("example.com", "example.net", "example.org")


class Emails(Finder):
    """Finds e-mail addresses, except those of domains that are reserved for examples.

    It also finds `jane (at) roe (dot) org`, and `jane at roe dot org` after a word such as `mail`.
    """

    def find(self, text: str, runs: Sequence[Run]) -> Iterator[Span]:  # noqa: D102
        # A search for a single character is much quicker than one for several.
        signs = [sign for sign in _SIGNS if sign[0] in text and sign in text]
        found = {span for sign in signs for span in self._find_signs(text, sign)}
        found.update(self._find_hidden(text))
        yield from without_overlaps(sorted(found))

    def _find_signs(self, text: str, sign: str) -> Iterator[Span]:
        """Yields addresses from right to left, since the text after `:` may be a path or the next address."""
        at, last_start = text.rfind(sign), len(text)
        while at >= 0:
            domain = _DOMAIN.match(text, at + len(sign))
            start = _start_of_local(text, at) if domain else at
            is_path = domain and domain.end() + 1 != last_start and _PATH.match(text, domain.end())
            if domain and start < at and not is_path and not _is_nobodys(domain.group()):
                start, end = _without_neighbours(start, at, domain, text)
                if not _USER.search(text, max(0, start - _MAX_USER_CHARACTERS), start):
                    last_start = start
                    yield start, end
            at = text.rfind(sign, 0, at)

    def _find_hidden(self, text: str) -> Iterator[Span]:
        if "@" in text and "@ " in text:
            yield from _after_names(text, _SPACED)
        yield from _after_names(text, _HIDDEN)
        if _SPOKEN_DOT.search(text) or ("D" in text and " DOT " in text):
            for each in _SPOKEN.finditer(text):
                start = each.start()
                if (
                    _MENTION.search(text, max(0, start - _MENTION_CHARACTERS), start)
                    or " AT " in each.group()
                ):
                    yield each.span()

    def reshape(self, value: str, key: bytes) -> str:  # noqa: D102
        local = re.split(r"@|＠|&|%40|[\s\[({<]|_at_", value.strip('"'), maxsplit=1)[0]
        return f"{reshape(local or 'a', key)}@{_EXAMPLE_DOMAINS[key[0] % len(_EXAMPLE_DOMAINS)]}"


def _start_of_local(text: str, at: int) -> int:
    """Returns the start of the local part that ends at `at`, or `at` if there is no local part."""
    local = _LOCAL_REVERSED.match(text[max(0, at - _MAX_LOCAL_CHARACTERS) : at][::-1])
    return at - local.end() if local else at


@functools.lru_cache(maxsize=2**12)
def _is_nobodys(domain: str) -> bool:
    return bool(_NOBODYS.match(domain.lower()))


def _without_neighbours(start: int, at: int, domain: re.Match[str], text: str) -> Span:
    """Returns the span of an address without adjacent words of scripts that have no spaces between words."""
    end = domain.end()
    before = _BEFORE_LATIN.match(text, start, at)
    if before:
        start = before.end()
        latin = _LATIN_DOMAIN.match(text, domain.start())
        end = latin.end() if latin else end
    return start, end


def _after_names(text: str, pattern: re.Pattern[str]) -> Iterator[Span]:
    """Yields the span of each match of a pattern together with the name before it, if there is one."""
    for found in pattern.finditer(text):
        start = found.start()
        name = _NAME.search(text, max(0, start - _MAX_LOCAL_CHARACTERS), start)
        if name:
            yield name.start(), found.end()
