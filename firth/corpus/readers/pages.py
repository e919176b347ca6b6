"""Decoding of web pages and extraction of their text."""

import codecs
import contextlib
import functools
import logging
import re
from collections import Counter
from collections.abc import Callable

from firth.corpus.documents.errors import UnreadableError

_MARKS = (
    # UTF-32 comes before UTF-16, whose marks begin in the same way. Browsers do not read UTF-32 either.
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Browsers stop at a depth of 512.
MAX_DEPTH = 1000
# Parsers compare each attribute of a tag with all before it.
MAX_ATTRIBUTES = 1000
# Elements that end implicitly where the next begins, or have no end tag, are left out.
_TAG = re.compile(
    "<(/?)(?!(?:p|li|dt|dd|tr|td|th|thead|tbody|tfoot|option|optgroup|rp|rt|br|hr|img|input|meta|link|base|area"
    "|col|embed|param|source|track|wbr)[^a-z0-9])([a-z][a-z0-9]*)"
)
# A tag, without its end. As in the HTML standard, quotes hold a value only after "=".
# Nothing follows the repetition, so that there is nothing to go back for.
_START_TAG = re.compile(r"""<[A-Za-z](?:[^>=]+|=\s*"[^"]*"|=\s*'[^']*'|=)*""")
# Each attribute has at least a name and a space.
_LONG_TAG = 2 * MAX_ATTRIBUTES
_QUOTED = re.compile(r"""=\s*(?:"[^"]*"|'[^']*')|/""")
# Content that is not markup, though it may look like it. Without an end tag it extends to the page's end.
_RAW = re.compile(
    r"<!--.*?(?:-->|\Z)|<(script|style|textarea|title)\b.*?(?:</\1|\Z)", re.DOTALL | re.IGNORECASE
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


def check_markup(html: str) -> None:
    """Checks that a parser will not take too long for a page.

    Example:

    >>> check_markup('<a href="x"">' + "a word " * 2000 + '<a href="y">')  # a quote too many
    >>> check_markup("<div>" * 2000)
    Traceback (most recent call last):
    firth.corpus.documents.errors.UnreadableError: nested_too_deeply
    """
    if depth_of(html) > MAX_DEPTH:
        raise UnreadableError("nested_too_deeply")
    # Scripts may look like tags of many attributes, but are rarely long enough for a closer look.
    if _has_many_attributes(html) and _has_many_attributes(_RAW.sub("", html)):
        raise UnreadableError("too_many_attributes")


def _has_many_attributes(html: str) -> bool:
    for tag in _START_TAG.finditer(html):
        if tag.end() - tag.start() > _LONG_TAG and _attributes_of(tag[0]) > MAX_ATTRIBUTES:
            return True
    return False


def _attributes_of(tag: str) -> int:
    """Returns the number of attributes that a tag may have: values in quotes end one, and so do spaces."""
    return len(_QUOTED.sub(" ", tag).split()) - 1


def depth_of(html: str) -> int:
    """Returns the depth of nesting of a page, without elements that end implicitly, such as `<p>`.

    It is 0 if the page has too few tags to be nested deeper than `MAX_DEPTH`.

    Example:

    >>> depth_of("<div>" * 2000 + "<p>" * 9), depth_of("<b></b>" * 2000), depth_of("<div>")
    (2000, 1, 0)
    """
    # Few tags cannot be deep, and counting them is much quicker than reading them.
    if html.count("<") <= MAX_DEPTH:
        return 0
    open_elements: Counter[str] = Counter()
    depth = deepest = 0
    for end, name in _TAG.findall(html.lower()):
        if not end:
            open_elements[name] += 1
            depth += 1
            deepest = max(deepest, depth)
        elif open_elements[name]:
            open_elements[name] -= 1
            depth -= 1
    return deepest
