"""Detection of IP addresses."""

import functools
import ipaddress
import re
from collections.abc import Iterator, Sequence

from firth.corpus.privacy.finder import WORD, Finder, Run, Span, search

_DOCUMENTATION = tuple(
    map(
        ipaddress.ip_network,
        ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "0.0.0.0/8", "2001:db8::/32", "3fff::/20"),
    )
)
# First numbers of networks of which a part is private, shared, local or reserved.
_SPECIAL = (10, 100, 127, 169, 172, 192, 198, 203)


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
