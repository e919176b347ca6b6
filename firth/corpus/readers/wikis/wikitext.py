"""Plain text of articles in wikitext, the markup of MediaWiki."""

import html
import re
from collections.abc import Collection

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
# Elements whose content is not a part of the article's sentences.
_APART = "ref|gallery|timeline|imagemap|score|templatestyles|math|chem|syntaxhighlight|source|graph|mapframe"
_ELEMENT = re.compile(rf"<(/?)({_APART})\b([^<>]*)>", re.IGNORECASE)
_BRACES = re.compile(r"\{\{|\}\}|\{\||\|\}")
_LINK = re.compile(r"\[\[([^\[\]]*)\]\]")
_OUTSIDE = re.compile(r"\[(?:https?:|ftp:)?//[^\s\[\]]+[ \t]*([^\[\]\n]*)\]", re.IGNORECASE)
_HEADING = re.compile(r"^={1,6}([^\n]*?[^=\n])={1,6}[ \t]*$", re.MULTILINE)
_EMPHASIS = re.compile(r"'{2,5}")
_MARKS = re.compile(r"^[*#:;]+[ \t]*|^----+[ \t]*", re.MULTILINE)
_BREAK = re.compile(r"<br\b[^<>]*>", re.IGNORECASE)
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,300}>")
_MAGIC = re.compile(r"__[A-Z]+__")
_BLANK_LINES = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")
# A link within the caption of a picture within another one.
_MAX_NESTED = 5
_OTHER_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[a-z]+)*")


def plain_wikitext(text: str, left_out: Collection[str] = ()) -> str:
    """Returns the sentences of an article, without templates, tables, pictures, references and markup.

    Templates are not expanded, so that a value that a template makes, such as a converted unit, is missing.

    Example:

    >>> plain_wikitext("'''Moby-Dick''' is a [[novel|book]] {{small|(1851)}} of [[Melville]].<ref>x</ref>")
    'Moby-Dick is a book  of Melville.'
    """
    text = _without_braces(_without_elements(_COMMENT.sub("", text)))
    names = {"file", "image", "category", "media", *left_out}
    for _ in range(_MAX_NESTED):
        text, count = _LINK.subn(lambda link: _label(link[1], names), text)
        if not count:
            break
    text = _OUTSIDE.sub(r"\1", text)
    text = _BREAK.sub("\n", text)
    for pattern in (_TAG, _MAGIC, _EMPHASIS):
        text = pattern.sub("", text)
    text = _MARKS.sub("", _HEADING.sub(lambda heading: heading[1].strip(), text))
    return _BLANK_LINES.sub("\n\n", html.unescape(text)).strip()


def _without_elements(text: str) -> str:
    kept, done = [], 0
    opened: re.Match[str] | None = None
    for tag in _ELEMENT.finditer(text):
        is_end, name = bool(tag[1]), tag[2].lower()
        if opened is None and not is_end and not tag[3].endswith("/"):
            opened = tag
            continue
        first = tag if opened is None else opened
        if opened is None or (is_end and name == opened[2].lower()):
            kept.append(text[done : first.start()])
            opened, done = None, tag.end()
    return "".join([*kept, text[done:]])


def _without_braces(text: str) -> str:
    """Returns a text without templates and tables, which may be in each other; one that has no end stays."""
    kept, done, opened = [], 0, []
    for mark in _BRACES.finditer(text):
        if mark[0] in ("{{", "{|"):
            opened.append(mark)
        elif opened and opened[-1][0] == ("{{" if mark[0] == "}}" else "{|"):
            first = opened.pop()
            if not opened:
                kept.append(text[done : first.start()])
                done = mark.end()
    return "".join([*kept, text[done:]])


def _label(link: str, left_out: Collection[str]) -> str:
    target, *labels = link.split("|")
    prefix, colon, _ = target.strip().partition(":")
    if colon and prefix:
        name = prefix.strip().lower()
        if name in left_out or (not labels and _OTHER_LANGUAGE.fullmatch(prefix)):
            return ""
    return labels[-1] if labels else target.strip().lstrip(":")
