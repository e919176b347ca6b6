"""Detection of addresses: IP, and e-mail, also when it is disguised from programs."""

import functools
import ipaddress
import re
from collections.abc import Iterator, Sequence

from firth.corpus.privacy.finder import WORD, Finder, Run, Span, reshape, search, without_overlaps

_DOCUMENTATION = tuple(
    map(
        ipaddress.ip_network,
        ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "0.0.0.0/8", "2001:db8::/32", "3fff::/20"),
    )
)
# First numbers of networks of which a part is private, shared, local or reserved.
_SPECIAL = (10, 100, 127, 169, 172, 192, 198, 203)
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


class _Addresses(Finder):
    """Finds IP addresses in use, and not those reserved for documentation or for loopback."""

    _version: int

    def accepts(self, value: str) -> bool:
        return _is_somebodys(self._version, value, self._config.private_addresses)


class Ipv4Addresses(_Addresses):
    """Finds IP addresses of version 4, unless the words before them announce a version or a section."""

    _version = 4
    # No address that begins with one of these numbers is private or reserved.
    _GLOBAL = re.compile(
        rf"(?:{'|'.join(str(n) for n in range(1, 224) if n not in _SPECIAL)})"
        r"(?:\.(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])){3}"
    )
    _candidate = re.compile(rf"\d(?<![{WORD}.-]\d)\d{{0,2}}(?:\.\d{{1,3}}){{3}}(?![{WORD}-]|\.\w)")
    _otherwise = re.compile(
        r"(?i)(?:[a-z]/|\b(?:v|ver|versions?|release|rev|revision|firmware|build|sections?|sec|chapter|clause|oid"
        r"|table|figure|fig|theorem|lemma|corollary|proposition|definition|example"
        r"|ex|eq|update|patch|upgrade[ds]?)\b\.?[\s:=]{0,2}(?:to |from )?|§\s?|[=<>~!]=\s?)\Z"
    )

    # Numbers of versions and sections are small, so an address of small numbers needs words that announce it.
    _large = re.compile(r"[12]\d\d")
    _announced = re.compile(
        r"(?i)(?:(?<![a-z])(?:ip(?:v4)?|addr|address|adresse|host|hosts|server|from|dns|nameserver|resolver|ping"
        r"|ssh|connect|connecting|whois|traceroute|peer|client|src|dst|source|destination|block|blocked|banned"
        r"|gateway|user|login|remote|remote_addr|forwarded|forwarded-for|proxy|router|network|tor)(?![a-z])"
        r"|(?<![a-z])at |://|@)[^\n]{0,24}\Z"
    )
    # All words that announce or exclude an address contain one of these characters.
    _before = re.compile(r"[A-Za-z§=/:@]")
    _continued = re.compile(r":\d{2,5}(?!\d)|/\d\d?(?![\d/])| - - \[| port \d")

    def find(self, text: str, runs: Sequence[Run]) -> Iterator[Span]:  # noqa: D102
        for candidate in search(self._candidate, text, runs, length=7):
            if self.accepts(candidate.group()) and not self._is_something_else(text, candidate):
                yield candidate.span()

    def accepts(self, value: str) -> bool:  # noqa: D102
        return bool(self._GLOBAL.fullmatch(value)) or super().accepts(value)

    def _is_something_else(self, text: str, candidate: re.Match[str]) -> bool:
        start, end = candidate.span()
        has_words = self._before.search(text, max(0, start - 48), start)
        if has_words and self._otherwise.search(text, max(0, start - 16), start):
            return True
        address = candidate.group()
        is_global = self._GLOBAL.fullmatch(address)
        if self._large.search(address) or (not is_global and ipaddress.IPv4Address(address).is_private):
            return False
        announced = has_words and self._announced.search(text, max(0, start - 48), start)
        return not announced and not self._continued.match(text, end)

    def reshape(self, value: str, key: bytes) -> str:  # noqa: D102
        network = _DOCUMENTATION[key[0] % 3].network_address
        return f"{str(network).rpartition('.')[0]}.{key[1]}"


class Ipv6Addresses(_Addresses):
    """Finds IP addresses of version 6."""

    _version = 6
    _candidate = re.compile(
        r"[0-9A-Fa-f:](?<![\w:.].)(?<=(?=[0-9A-Fa-f]{0,4}:[0-9A-Fa-f]{0,4}:).)[0-9A-Fa-f:.]{1,44}"
        r"(?<!\.)(?![\w:]|\.\w)"
    )
    _two_colons = re.compile(r":[0-9A-Fa-f]{0,4}:")

    def find(self, text: str, runs: Sequence[Run]) -> Iterator[Span]:  # noqa: D102
        for candidate in self._candidate.finditer(text) if self._two_colons.search(text) else ():
            if self.accepts(candidate.group()):
                yield candidate.span()

    def reshape(self, value: str, key: bytes) -> str:  # noqa: D102
        return str(ipaddress.IPv6Address(b"\x20\x01\x0d\xb8" + key[:12]))


@functools.lru_cache(maxsize=2**12)
def _is_somebodys(version: int, value: str, private: bool) -> bool:
    try:
        address = ipaddress.IPv4Address(value) if version == 4 else ipaddress.IPv6Address(value)
    except ValueError:
        return False
    if any(address in network for network in _DOCUMENTATION):
        return False
    if address.is_multicast or address.is_loopback or address.is_unspecified or address.is_reserved:
        return False
    return address.is_global or (private and address.is_private)


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
