"""Dumps of Wikipedia and other wikis: MediaWiki's export format in XML, with articles in wikitext."""

import html
import re
import urllib.parse
from collections.abc import Collection, Iterator
from typing import Any
from xml.parsers import expat

from firth.corpus.documents.document import Document
from firth.corpus.documents.errors import UnreadableError
from firth.corpus.documents.rejection import Rejection
from firth.corpus.io.file_contents import BoundedBytes, RawRecord, problem_of, read_blocks
from firth.corpus.io.source_files import SourceFile
from firth.corpus.readers.decoding import (
    StatedFields,
    check_text,
    metadata_of,
    read_or_reject,
    reject,
    reject_empty,
)
from firth.recipes.corpus.sources import MediawikiSource

ARTICLES = "0"
# Namespaces of files and categories, links to which are not a part of a sentence.
_LEFT_OUT = ("6", "14")
# The elements that are read, by their paths below the root.
_FIELDS = {
    "page/title": "title",
    "page/ns": "ns",
    "page/id": "id",
    "page/revision/id": "revision",
    "page/revision/timestamp": "timestamp",
    "page/revision/model": "model",
    "page/revision/text": "text",
    "siteinfo/base": "base",
    "siteinfo/namespaces/namespace": "namespace",
}
_SHORT_BYTES = 2**12
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
# Elements whose content is not a part of the article's sentences.
_APART = "ref|gallery|timeline|imagemap|score|templatestyles|math|chem|syntaxhighlight|source|graph|mapframe"
_ELEMENT = re.compile(rf"<(/?)({_APART})\b([^<>]*)>", re.IGNORECASE)
_TEMPLATE = re.compile(r"\{\{|\}\}")
# An argument of a template, with the text that it has without a value.
_ARGUMENT = re.compile(r"\{\{\{[^{}|]*\|?([^{}]*)\}\}\}")
_TABLE = re.compile(r"(\{)\||\|\}")
# Templates whose text belongs to the sentence, with the first and the last of their values without a name.
_SHOWN = {
    **dict.fromkeys(("nowrap", "nobr", "small", "abbr", "quote", "blockquote", "'", "sic"), (0, 0)),
    **dict.fromkeys(("lang", "langx", "transl", "transliteration"), (1, 1)),
    **dict.fromkeys(("convert", "cvt"), (0, 1)),
}
# Templates such as lang-fr.
_SHOWN_LANGUAGE = re.compile(r"lang-[a-z-]{2,12}")
_MAX_SHOWN = 2**9
_BETWEEN_VALUES = re.compile(r"\|(?![^\[\]]*\]\])")
_NAMED_VALUE = re.compile(r"\s*[^\s=<>\[\]][^=<>\[\]]*=")
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
# A place in a text, the name of its element, and `start`, `end` or `both`.
_Mark = tuple[re.Match[str], str, str]


@reject_empty
def read_mediawiki(source: MediawikiSource, file: SourceFile) -> Iterator[Document | Rejection]:
    """Yields the articles of a dump as plain text, and rejections for other pages.

    The reasons of rejection are `empty`, `too_long`, `redirect`, `other_namespace`, `not_wikitext`, and
    `malformed_xml` and those of `problem_of`, after which reading of the file ends.
    """
    pages = _Pages(source.max_document_bytes)
    number, size, problem = 0, 0, ""
    try:
        for block in _ended(read_blocks(file.path)):
            size += len(block or b"")
            try:
                whole = [] if problem else pages.feed(block)
            except (expat.ExpatError, ValueError):
                # The rest is read to be counted.
                whole, problem = [], "malformed_xml"
            for page in whole:
                number += 1
                size = 0
                yield _read_page(source, file, number, page, pages)
    except OSError as error:
        problem = problem_of(error)
    else:
        problem = "" if pages.is_blank else problem
    if problem:
        yield reject(source, file.place, number + 1, problem, b"", size)


def _ended(blocks: Iterator[bytes]) -> Iterator[bytes | None]:
    yield from blocks
    yield None


def _read_page(
    source: MediawikiSource, file: SourceFile, number: int, page: dict[str, Any], pages: "_Pages"
) -> Document | Rejection:
    text: BoundedBytes = page["text"]

    def read() -> tuple[str, StatedFields]:
        if page["ns"] != ARTICLES:
            raise UnreadableError("other_namespace")
        if page["is_redirect"]:
            raise UnreadableError("redirect")
        if page["model"] not in ("", "wikitext"):
            raise UnreadableError("not_wikitext")
        plain = check_text(plain_wikitext(text.data.decode("utf-8", "ignore"), pages.left_out))
        metadata = metadata_of(source.metadata_keys, {key: page[key] for key in page if key != "text"})
        return plain, StatedFields(id=page["id"], uri=pages.address_of(page["title"]), metadata=metadata)

    record = RawRecord(number, text.data, text.size, text.problem)
    return read_or_reject(read, source, file.place, record, f"{file.place}#R{number}")


class _Pages:
    """The pages of a dump, from the parts of its XML.

    Attributes:
        left_out: Names of the wiki's namespaces of files and categories, in lower case.
        is_blank: True as long as nothing but white space has come.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._path: list[str] = []
        self._content: BoundedBytes | None = None
        self._page: dict[str, Any] = {}
        self._whole: list[dict[str, Any]] = []
        self._base, self._key = "", ""
        self.left_out: set[str] = set()
        self.is_blank = True
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        self._parser.EntityDeclHandler = _refuse

    def feed(self, block: bytes | None) -> list[dict[str, Any]]:
        """Returns the pages that end in a part of the file; None is its end."""
        self.is_blank = self.is_blank and not (block or b"").strip()
        self._parser.Parse(block or b"", block is None)
        whole, self._whole = self._whole, []
        return whole

    def address_of(self, title: str) -> str:
        """Returns the address of an article; empty if the dump does not state where the wiki is."""
        folder = self._base.rpartition("/")[0]
        return f"{folder}/{urllib.parse.quote(title.replace(' ', '_'), safe='/:()!,')}" if folder else ""

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._path.append(name)
        place = "/".join(self._path[1:])
        if place == "page":
            self._page = dict.fromkeys(_FIELDS.values(), "")
            self._page |= {"text": BoundedBytes(self._max_bytes), "is_redirect": False}
        elif place == "page/redirect":
            self._page["is_redirect"] = True
        if place in _FIELDS:
            self._key = attributes.get("key", "")
            self._content = BoundedBytes(self._max_bytes if _FIELDS[place] == "text" else _SHORT_BYTES)

    def _characters(self, data: str) -> None:
        if self._content is not None:
            self._content.extend(data.encode("utf-8"))

    def _end(self, name: str) -> None:
        place = "/".join(self._path[1:])
        self._path.pop()
        if place == "page":
            self._whole.append(self._page)
        if self._content is None or place not in _FIELDS:
            return
        content, self._content = self._content, None
        text = content.data.decode("utf-8", "ignore")
        field = _FIELDS[place]
        if field == "text":
            self._page[field] = content
        elif field == "base":
            self._base = text.strip()
        elif field != "namespace":
            self._page[field] = text.strip()
        elif self._key in _LEFT_OUT:
            self.left_out.add(text.strip().lower())


def _refuse(*_: Any) -> None:
    raise ValueError("a dump declares no entities")


def plain_wikitext(text: str, left_out: Collection[str] = ()) -> str:
    """Returns the sentences of an article, without templates, tables, pictures, references and markup.

    Templates are not expanded, so that a value that a template makes is missing. Of templates whose text
    belongs to the sentence, such as `lang`, `nowrap` and `convert`, the text is kept. What has no end stays.

    Example:

    >>> plain_wikitext("'''Moby-Dick''' is a [[novel|book]] {{small|(1851)}} of [[Melville]].<ref>x</ref>")
    'Moby-Dick is a book (1851) of Melville.'
    """
    text = _without_templates(_without(_elements(_COMMENT.sub("", text))))
    text = _without(_tables(text))
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


def _elements(text: str) -> tuple[str, Iterator[_Mark]]:
    marks = (
        (tag, tag[2].lower(), "end" if tag[1] else "both" if tag[3].endswith("/") else "start")
        for tag in _ELEMENT.finditer(text)
    )
    return text, marks


def _tables(text: str) -> tuple[str, Iterator[_Mark]]:
    return text, ((mark, "", "start" if mark[1] else "end") for mark in _TABLE.finditer(text))


def _without(marked: tuple[str, Iterator[_Mark]]) -> str:
    """Returns a text without all that is between a start and the end of the same name; other marks stay."""
    text, marks = marked
    spans: list[tuple[int, int]] = []
    opened: dict[str, list[int]] = {}
    for mark, name, role in marks:
        starts = opened.setdefault(name, [])
        if role == "start":
            starts.append(mark.start())
            continue
        if role == "both":
            start = mark.start()
        else:
            # A start within what is left out has no end outside of it.
            while starts and spans and spans[-1][0] < starts[-1] < spans[-1][1]:
                starts.pop()
            if not starts:
                continue
            start = starts.pop()
        while spans and spans[-1][0] >= start:
            spans.pop()
        spans.append((start, mark.end()))
    kept, done = [], 0
    for start, end in spans:
        kept.append(text[done:start])
        done = end
    return "".join([*kept, text[done:]])


def _without_templates(text: str) -> str:
    """Returns a text without templates, which may be in each other; one that has no end stays."""
    text = _ARGUMENT.sub(r"\1", text)
    parts: list[list[str]] = [[]]
    done = 0
    for mark in _TEMPLATE.finditer(text):
        parts[-1].append(text[done : mark.start()])
        done = mark.end()
        if mark[0] == "{{":
            parts.append([])
        elif len(parts) > 1:
            content = "".join(parts.pop())
            parts[-1].append(_shown(content))
        else:
            parts[-1].append(mark[0])
    parts[-1].append(text[done:])
    first, *others = parts
    return "".join([*first, *(each for part in others for each in ("{{", *part))])


def _shown(template: str) -> str:
    """Returns the text of a template that belongs to the sentence, or an empty string."""
    name, _, rest = template[:_MAX_SHOWN].partition("|")
    name = name.strip().lower()
    place = (0, 0) if _SHOWN_LANGUAGE.fullmatch(name) else _SHOWN.get(name)
    if place is None or len(template) > _MAX_SHOWN:
        return ""
    values = [each.strip() for each in _BETWEEN_VALUES.split(rest) if not _NAMED_VALUE.match(each)]
    return " ".join(values[place[0] : place[1] + 1])


def _label(link: str, left_out: Collection[str]) -> str:
    target, *labels = link.split("|")
    prefix, colon, _ = target.strip().partition(":")
    if colon and prefix:
        name = prefix.strip().lower()
        if name in left_out or (not labels and _OTHER_LANGUAGE.fullmatch(prefix)):
            return ""
    return labels[-1] if labels else target.strip().lstrip(":")
