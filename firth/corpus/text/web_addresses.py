"""Hosts and registered domains of the addresses of web pages."""

import functools
import re
import urllib.parse
from collections.abc import Iterator

import idna
import tld

# The part before the host: a scheme or nothing, and the name and password of a user.
_AUTHORITY = re.compile(r"(?:https?:)?//(?:[^/?#\\@]*@)*(\[[^\]/?#]*\]|[^/?#\\:]*)(?::\d*)?", re.IGNORECASE)
_ASCII = "".join(map(chr, range(128)))
_ESCAPED = re.compile("%([0-9A-Fa-f]{2})")
_UNRESERVED = re.compile("[A-Za-z0-9._~-]")
_CACHED_HOSTS = 2**16


def host_of(uri: str) -> str:
    """Returns the host of a page's address in the form of `canonical_host`, or "" if it is not on the web.

    Example:

    >>> host_of("https://user:pw@WWW.Example.com:8080/a?b"), host_of("books/a.txt#L12")
    ('www.example.com', '')
    """
    found = _AUTHORITY.match(uri)
    return canonical_host(found[1]) if found else ""


def path_of(uri: str) -> str:
    """Returns the rest of a page's address after the host and its port, in the form of `canonical_path`.

    Example:

    >>> path_of("http://example.com:80/a/b?c")
    '/a/b?c'
    """
    found = _AUTHORITY.match(uri)
    return canonical_path(uri[found.end() :]) if found else ""


def canonical_path(path: str) -> str:
    """Returns the rest of an address after its host as it is sent, by section 6.2.2 of RFC 3986.

    Letters that are not of ASCII become percent signs and the digits of their bytes in UTF-8, in capitals; a
    letter, digit, `-`, `.`, `_` or `~` that is written with a percent sign becomes itself.

    Example:

    >>> canonical_path("/wiki/Käse"), canonical_path("/wiki/K%c3%a4se"), canonical_path("/%7Ejoe/?a=%2f")
    ('/wiki/K%C3%A4se', '/wiki/K%C3%A4se', '/~joe/?a=%2F')
    """
    if not path.isascii():
        path = urllib.parse.quote(path, _ASCII, errors="surrogatepass")
    return _ESCAPED.sub(_unescape, path) if "%" in path else path


def _unescape(escaped: re.Match[str]) -> str:
    letter = chr(int(escaped[1], 16))
    return letter if _UNRESERVED.fullmatch(letter) else escaped[0].upper()


@functools.lru_cache(_CACHED_HOSTS)
def canonical_host(host: str) -> str:
    """Returns a host in lower case, in the ASCII form of international names and without a dot at its end.

    A label that is not valid in an international name has the form that browsers give it.

    Example:

    >>> canonical_host("Bücher.Example."), canonical_host("xn--bcher-kva.example"), canonical_host("i❤.ws")
    ('xn--bcher-kva.example', 'xn--bcher-kva.example', 'xn--i-7iq.ws')
    """
    host = host.strip().rstrip(".").lower()
    if host.isascii():
        return host
    try:
        host = idna.uts46_remap(host, std3_rules=False)
    except idna.IDNAError:
        return host
    # One label that registries would refuse, such as `my_site`, leaves the others as they are elsewhere.
    return ".".join(map(_in_ascii, host.rstrip(".").split(".")))


def _in_ascii(label: str) -> str:
    if label.isascii():
        return label
    try:
        return idna.alabel(label).decode("ascii")
    except idna.IDNAError:
        return f"xn--{label.encode('punycode').decode('ascii')}"


def domains_of(host: str) -> Iterator[str]:
    """Yields a host and the domains above it, up to the last label.

    Example:

    >>> list(domains_of("a.example.com"))
    ['a.example.com', 'example.com', 'com']
    """
    while host:
        yield host
        host = host.partition(".")[2]


@functools.lru_cache(_CACHED_HOSTS)
def registered_domain(host: str) -> str:
    """Returns the domain that was registered, such as `example.co.uk`, by the Public Suffix List.

    A host without a known suffix, such as an IP address, is returned as it is.

    Example:

    >>> registered_domain("a.b.example.co.uk"), registered_domain("10.0.0.1"), registered_domain("")
    ('example.co.uk', '10.0.0.1', '')
    """
    # The list has the international names in letters.
    found = tld.get_fld(f"http://{'.'.join(map(_in_letters, host.split('.')))}/", fail_silently=True)
    return canonical_host(found) if found else host


def _in_letters(label: str) -> str:
    if not label.startswith("xn--"):
        return label
    try:
        return idna.ulabel(label)
    except idna.IDNAError:
        return label
