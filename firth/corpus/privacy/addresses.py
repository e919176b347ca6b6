"""E-mail and IP addresses."""

import ipaddress
import re
from collections.abc import Iterator

from firth.corpus.privacy.finder import Finder, Span, reshape
from firth.recipes.privacy import PiiStep

_MAX_LOCAL_CHARACTERS = 64
_LOCAL = re.compile(r"\w[\w.+%'-]*\Z")
# `user@host:path` is where a repository or a file is, and no mailbox.
_DOMAIN = re.compile(r"(?:[^\W_](?:[\w-]{0,61}[^\W_])?\.)+[^\W\d_]{2,24}(?![\w@-]|\.\w|:[\w/~])")
# Kept free for examples (RFC 2606, RFC 6761), and the ends of file names such as `icon@2x.png`.
_NOBODYS = re.compile(
    r"(?i)(?:.*\.)?(?:example\.(?:com|net|org|edu)|(?:example|test|invalid|local|localhost"
    r"|png|jpe?g|gif|svg|webp|css|js|json|html?|txt))\Z"
)
_EXAMPLE_DOMAINS = ("example.com", "example.net", "example.org")


class Emails(Finder):
    """E-mail addresses, other than those of domains that are kept free for examples."""

    def __init__(self, config: PiiStep):
        del config

    def find(self, text: str) -> Iterator[Span]:  # noqa: D102
        at = text.find("@")
        while at >= 0:
            local = _LOCAL.search(text, max(0, at - _MAX_LOCAL_CHARACTERS), at)
            domain = _DOMAIN.match(text, at + 1)
            if local and domain and not _NOBODYS.match(domain.group()):
                yield local.start(), domain.end()
            at = text.find("@", at + 1)

    def accepts(self, value: str) -> bool:  # noqa: D102
        return any(self.find(value))

    def reshape(self, value: str, key: bytes) -> str:  # noqa: D102
        local, _, _ = value.rpartition("@")
        return f"{reshape(local, key)}@{_EXAMPLE_DOMAINS[key[0] % len(_EXAMPLE_DOMAINS)]}"


class _Addresses(Finder):
    """IP addresses that are somebody's: those kept free for documentation and for loops are not."""

    _parse: type[ipaddress.IPv4Address] | type[ipaddress.IPv6Address]
    _candidate: re.Pattern[str]
    _documentation: tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]

    def __init__(self, config: PiiStep):
        self._private = config.private_addresses

    def find(self, text: str) -> Iterator[Span]:
        for candidate in self._candidate.finditer(text):
            if self.accepts(candidate.group()) and not self._is_something_else(text, candidate.start()):
                yield candidate.span()

    def _is_something_else(self, text: str, start: int) -> bool:
        del text, start
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
    _candidate = re.compile(r"\d(?<![\w.-]\d)\d{0,2}(?:\.\d{1,3}){3}(?![\w-]|\.\w)")
    _documentation = tuple(
        map(ipaddress.ip_network, ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "0.0.0.0/8"))
    )
    _otherwise = re.compile(
        r"(?i)(?:\b(?:v|ver|versions?|release|rev|revision|firmware|build|sections?|sec|chapter|clause|oid"
        r"|table|figure|fig|update|patch|upgrade[ds]?)\b\.?[\s:=]{0,2}(?:to |from )?|§\s?|[=<>~!]=\s?)\Z"
    )

    def _is_something_else(self, text: str, start: int) -> bool:
        return bool(self._otherwise.search(text, max(0, start - 16), start))

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
