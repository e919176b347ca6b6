"""Dumps of Wikipedia and other wikis: MediaWiki's export format in XML, with articles in wikitext."""

import urllib.parse
from collections.abc import Iterator
from typing import Any
from xml.parsers import expat

from firth.corpus.documents.document import Document
from firth.corpus.documents.errors import UnreadableError
from firth.corpus.documents.rejection import Rejection
from firth.corpus.io.lines import BoundedBytes, RawRecord, problem_of, read_blocks
from firth.corpus.io.source_files import SourceFile
from firth.corpus.readers.decoding import Stated, check_text, read_or_reject, reject, reject_empty
from firth.corpus.readers.fields import metadata_of
from firth.corpus.readers.wikis.wikitext import plain_wikitext
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

    def read() -> tuple[str, Stated]:
        if page["ns"] != ARTICLES:
            raise UnreadableError("other_namespace")
        if page["is_redirect"]:
            raise UnreadableError("redirect")
        if page["model"] not in ("", "wikitext"):
            raise UnreadableError("not_wikitext")
        plain = check_text(plain_wikitext(text.data.decode("utf-8", "ignore"), pages.left_out))
        metadata = metadata_of(source.metadata_keys, {key: page[key] for key in page if key != "text"})
        return plain, Stated(id=page["id"], uri=pages.address_of(page["title"]), metadata=metadata)

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
