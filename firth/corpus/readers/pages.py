"""Decoding of web pages and extraction of their text."""

import codecs
import contextlib
import functools
import logging
from collections.abc import Callable

from firth.corpus.documents.errors import UnreadableError
from firth.corpus.readers.markup import check_markup

_MARKS = (
    # UTF-32 comes before UTF-16, whose marks begin in the same way. Browsers do not read UTF-32 either.
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def decode_page(data: bytes, declared: str | None = None) -> str:
    r"""Returns the page as a string.

    An encoding fits if at most one in ten of the characters beyond ASCII is damaged. Damaged characters
    become U+FFFD, as in browsers. A byte order mark decides. Otherwise these are tried in order: UTF-8, the
    encoding that the server declared, and the one that the page declares or, if it declares none, that its
    bytes suggest.

    Example:

    >>> decode_page("Café".encode("latin-1"), "iso-8859-1"), decode_page(b"\xef\xbb\xbfab")
    ('Café', 'ab')
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _fitting(data[len(mark) :], encoding)
    for choose in (_plain_utf8, lambda _: declared, _look_of):
        with contextlib.suppress(UnreadableError):
            return _fitting(data, choose(data))
    raise UnreadableError("undecodable")


def _plain_utf8(data: bytes) -> str | None:
    # Text in encodings with escapes, or with two bytes for each character, may be valid UTF-8 by chance.
    return None if b"\x1b" in data or b"\0" in data else "utf-8"


def _look_of(data: bytes) -> str | None:
    from resiliparse.parse.encoding import detect_encoding

    return detect_encoding(data, from_html_meta=True)


def _fitting(data: bytes, encoding: str | None) -> str:
    from resiliparse.parse.encoding import map_encoding_to_html5

    known = map_encoding_to_html5(encoding, fallback_utf8=False) if encoding else None
    if not known:
        raise UnreadableError("undecodable")
    try:
        text = _decode(data, known)
    except (LookupError, ValueError):
        raise UnreadableError("undecodable") from None
    # Some of Python's decoders let lone surrogates through.
    return text.encode("utf-8", "replace").decode("utf-8")


def _decode(data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        text = data.decode(encoding, "replace")
    if 10 * text.count("\ufffd") > len(text) - len(text.encode("ascii", "ignore")):
        raise ValueError("more than one in ten characters beyond ASCII are damaged")
    return text


def extract_text(html: str, extractor: str) -> str:
    """Returns the text of an HTML page.

    Example:

    >>> extract_text("<nav>Home</nav><p>Call me Ishmael.</p>", "resiliparse")
    'Call me Ishmael.'
    """
    check_markup(html)
    try:
        text = EXTRACTORS[extractor](html)
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError, ArithmeticError):
        raise UnreadableError("extractor_failed") from None
    if not text.strip():
        raise UnreadableError("no_text")
    return text


def _trafilatura(html: str) -> str:
    return _quiet_trafilatura()(html, include_comments=False, fast=True) or ""


@functools.cache
def _quiet_trafilatura() -> Callable[..., str | None]:
    from trafilatura import extract

    # trafilatura logs every page without text, but such pages are counted here.
    logging.getLogger("trafilatura").setLevel(logging.CRITICAL)
    return extract


def _resiliparse(html: str) -> str:
    from resiliparse.extract.html2text import extract_plain_text

    return extract_plain_text(html, main_content=True, alt_texts=False, comments=False, post_meta=False)


EXTRACTORS: dict[str, Callable[[str], str]] = {"trafilatura": _trafilatura, "resiliparse": _resiliparse}
