"""IP addresses."""

import ipaddress
import re
from collections.abc import Iterator

from firth.corpus.privacy.boundaries import WORD
from firth.corpus.privacy.finder import Finder, Span
from firth.recipes.privacy import PiiStep


class _Addresses(Finder):
    """IP addresses that are somebody's: those kept free for documentation and for loops are not."""

    _parse: type[ipaddress.IPv4Address] | type[ipaddress.IPv6Address]
    _candidate: re.Pattern[str]
    _documentation: tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]

    def __init__(self, config: PiiStep):
        self._private = config.private_addresses

    def find(self, text: str) -> Iterator[Span]:
        for candidate in self._candidate.finditer(text):
            if self.accepts(candidate.group()) and not self._is_something_else(text, candidate):
                yield candidate.span()

    def _is_something_else(self, text: str, candidate: re.Match[str]) -> bool:
        del text, candidate
        return False

    def accepts(self, value: str) -> bool:
        try:
            address = self._parse(value)
        except ValueError:
            return False
        if any(address in network for network in self._documentation):
            return False
        if address.is_multicast or address.is_loopback or address.is_unspecified or address.is_reserved:
            return False
        return address.is_global or (self._private and address.is_private)


class Ipv4Addresses(_Addresses):
    """IP addresses of version 4, where the words before do not say that they are versions or sections."""

    _parse = ipaddress.IPv4Address
    _candidate = re.compile(rf"\d(?<![{WORD}.-]\d)\d{{0,2}}(?:\.\d{{1,3}}){{3}}(?![{WORD}-]|\.\w)")
    _documentation = tuple(
        map(ipaddress.ip_network, ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "0.0.0.0/8"))
    )
    _otherwise = re.compile(
        r"(?i)(?:[a-z]/|\b(?:v|ver|versions?|release|rev|revision|firmware|build|sections?|sec|chapter|clause|oid"
        r"|table|figure|fig|theorem|lemma|corollary|proposition|definition|example"
        r"|ex|eq|update|patch|upgrade[ds]?)\b\.?[\s:=]{0,2}(?:to |from )?|§\s?|[=<>~!]=\s?)\Z"
    )

    # Numbers of versions and sections are small; an address of small numbers is known by what stands around.
    _large = re.compile(r"[12]\d\d")
    _announced = re.compile(
        r"(?i)(?:(?<![a-z])(?:ip(?:v4)?|addr|address|adresse|host|hosts|server|from|dns|nameserver|resolver|ping"
        r"|ssh|connect|connecting|whois|traceroute|peer|client|src|dst|source|destination|block|blocked|banned"
        r"|gateway|user|login|remote|remote_addr|forwarded|forwarded-for|proxy|router|network|tor)(?![a-z])"
        r"|(?<![a-z])at |://|@)[^\n]{0,24}\Z"
    )
    _continued = re.compile(r":\d{2,5}(?!\d)|/\d\d?(?![\d/])| - - \[| port \d")

    def _is_something_else(self, text: str, candidate: re.Match[str]) -> bool:
        start, end = candidate.span()
        if self._otherwise.search(text, max(0, start - 16), start):
            return True
        if self._large.search(candidate.group()) or ipaddress.IPv4Address(candidate.group()).is_private:
            return False
        announced = self._announced.search(text, max(0, start - 48), start)
        return not announced and not self._continued.match(text, end)

    def reshape(self, value: str, key: bytes) -> str:  # noqa: D102
        network = self._documentation[key[0] % 3].network_address
        return f"{str(network).rpartition('.')[0]}.{key[1]}"


class Ipv6Addresses(_Addresses):
    """IP addresses of version 6."""

    _parse = ipaddress.IPv6Address
    _candidate = re.compile(
        r"[0-9A-Fa-f:](?<![\w:.].)(?<=(?=[0-9A-Fa-f]{0,4}:[0-9A-Fa-f]{0,4}:).)[0-9A-Fa-f:.]{1,44}"
        r"(?<!\.)(?![\w:]|\.\w)"
    )
    _two_colons = re.compile(r":[0-9A-Fa-f]{0,4}:")
    _documentation = (ipaddress.ip_network("2001:db8::/32"), ipaddress.ip_network("3fff::/20"))

    def find(self, text: str) -> Iterator[Span]:  # noqa: D102
        return super().find(text) if self._two_colons.search(text) else iter(())

    def reshape(self, value: str, key: bytes) -> str:  # noqa: D102
        return str(ipaddress.IPv6Address(b"\x20\x01\x0d\xb8" + key[:12]))
