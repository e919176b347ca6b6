"""Detection of pages for which an HTML parser would need time quadratic in their length."""

import re
from collections import Counter

from firth.corpus.documents.errors import UnreadableError

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
# Content that is not markup, though it may look like it. Without an end tag it goes on to the page's end.
_RAW = re.compile(
    r"<!--.*?(?:-->|\Z)|<(script|style|textarea|title)\b.*?(?:</\1|\Z)", re.DOTALL | re.IGNORECASE
)


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
    """Returns how many attributes a tag may have: values in quotes end one, and so do spaces."""
    return len(_QUOTED.sub(" ", tag).split()) - 1


def depth_of(html: str) -> int:
    """Returns how deep the elements of a page are nested, without those that end implicitly, such as `<p>`.

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
