import contextlib
import json
from collections.abc import Iterable

import pytest

from firth.corpus.documents.errors import UnreadableError
from firth.corpus.readers.pages import EXTRACTORS, decode_page, extract_text
from tests.shared_data import shared_data

JAPANESE = "これは日本語の文章です。もう一つの文章もここにあります。"
SENTENCE = "A sentence of some words, with a comma and an end. "
ENCODED = {
    "utf-8": (JAPANESE.encode(), None, JAPANESE),
    "a mark": (b"\xff\xfe" + JAPANESE.encode("utf-16-le"), "iso-8859-1", JAPANESE),
    "without a mark": (JAPANESE.encode("utf-16-le"), "utf-16le", JAPANESE),
    "declared by the server": (JAPANESE.encode("euc_jp"), "EUC-JP", JAPANESE),
    "declared by the page": (
        b'<meta charset="shift_jis">' + JAPANESE.encode("shift_jis"),
        None,
        '<meta charset="shift_jis">' + JAPANESE,
    ),
    "escapes": (JAPANESE.encode("iso2022_jp"), "iso-2022-jp", JAPANESE),
    "declared wrongly": ("Grüße".encode(), "windows-1251", "Grüße"),
    "declared nonsense": ("Grüße aus Köln".encode("latin-1"), "klingon", "Grüße aus Köln"),
    "a little damage": ("äöü".encode() * 9 + b"\xff", None, "äöü" * 9 + "\ufffd"),
    "damage of old": ("\ufffd\ufffd".encode(), None, "\ufffd\ufffd"),
    "null bytes": (b"a\0b", None, "a\0b"),
}


@pytest.mark.parametrize("name", ENCODED)
def test_encodings(name):
    data, declared, text = ENCODED[name]
    assert decode_page(data, declared) == text


@pytest.mark.parametrize("extractor", EXTRACTORS)
@pytest.mark.parametrize("tag", ["div", "b", "table", "x-y", "font", "ul><li"])
def test_pages_ten_thousand_deep_are_refused_at_once(extractor, tag):
    page = f"<{tag}>" * 10_000 + "Deep." + f"</{tag.split('>')[0]}>" * 10_000
    with pytest.raises(UnreadableError, match="nested_too_deeply"):
        extract_text(page, extractor)


@pytest.mark.parametrize("extractor", EXTRACTORS)
@pytest.mark.parametrize("attribute", ["a{} ", 'a{}=">" ', "a{}='<hr>'", "a{}/"])
def test_tags_of_many_attributes_are_refused_at_once(extractor, attribute):
    page = f"<p {''.join(attribute.format(i) for i in range(20_000))}>Many."
    with pytest.raises(UnreadableError, match="too_many_attributes"):
        extract_text(page, extractor)


def test_scripts_are_no_tags_of_many_attributes():
    script = "for (i = 0; i<n; i++) { " + "a = b; " * 2000 + "}"
    page = f"<script>{script}</script><!-- <a {'b ' * 2000} --><p>{SENTENCE}"
    assert extract_text(page, "resiliparse") == SENTENCE.strip()


# fmt: off
TAGS = (
    "div", "p", "li", "td", "tr", "table", "ul", "b", "a", "span", "font", "blockquote", "dl", "dd",
    "select", "option", "form", "h1", "section", "pre", "center", "q", "svg", "math", "template", "object",
    "button", "br", "hr", "img", "frameset", "frame", "iframe", "noscript", "script", "style", "title",
    "textarea", "body", "html", "head", "plaintext", "meta", "base", "x:y",
)
# fmt: on
ODD_PAGES = {
    **{f"open {tag}": f"<{tag}>" * 900 + SENTENCE for tag in TAGS},
    **{f"closed {tag}": f"<{tag}>{SENTENCE}</{tag}>" * 300 for tag in TAGS},
    **{f"ended {tag}": f"</{tag}>" * 2000 for tag in TAGS[:6]},
    "nothing": "",
    "spaces": " \n" * 1000,
    "null": "\0",
    "null characters": f"<p>{SENTENCE}{chr(0) * 1000}{SENTENCE}",
    "control characters": "".join(map(chr, range(32))) * 100 + SENTENCE,
    "half a pair": f"<p>{SENTENCE}\ud800{SENTENCE}",
    "brackets": "<" * 10_000,
    "ampersands": "&" * 10_000,
    "references": "&#x110000;&#0;&#xd800;&none;" * 1000,
    "entities": "<!DOCTYPE x [<!ENTITY a 'b'><!ENTITY c '&a;&a;'>]><p>&c;" + SENTENCE,
    "one long word": "<p>" + "a" * 10**6,
    "one long line": "<p>" + SENTENCE * 2000,
    "a row of many cells": "<table><tr>" + "<td>word</td>" * 2000,
    "rows of many cells": "<table>" + ("<tr>" + "<td>word" * 20) * 200,
    "a cell of many columns": f"<table><tr><td colspan=999999999 rowspan=999999999>{SENTENCE}",
    "tables in tables": "<table><tr><td>" * 900 + SENTENCE,
    "crossed tags": "<b><i>x</b>y</i>" * 2000,
    "an open comment": f"<p>{SENTENCE}<!--" + "-" * 10_000,
    "open comments": "<!--" * 10_000,
    "sections of characters": "<![CDATA[" * 10_000,
    "instructions": "<?php x ?>" * 2000 + SENTENCE,
    "a declared encoding": '<?xml version="1.0" encoding="klingon"?><p>' + SENTENCE,
    "an open quote": f'<p title="{SENTENCE * 100}',
    "a long tag": f"<{'a' * 10_000}>{SENTENCE}",
    "a long value": f'<p class="{"a " * 10_000}">{SENTENCE}',
    "unseen characters": "\u200b\u202e" * 10_000 + SENTENCE,
    "many marks": "<p>a" + "\u0301" * 10_000,
}


@pytest.mark.parametrize("extractor", EXTRACTORS)
def test_odd_pages_are_text_or_a_reason(extractor):
    assert len(ODD_PAGES) >= 100
    for name, page in ODD_PAGES.items():
        with contextlib.suppress(UnreadableError):
            assert extract_text(page, extractor).strip(), name


@pytest.mark.parametrize("extractor", EXTRACTORS)
def test_long_pages_are_no_deep_ones(extractor):
    paragraph = "<p>A paragraph of some length, with a <b>bold</b> word and a line<br>break, and no end."
    text = extract_text(f"<html><body><article>{paragraph * 2000}</article></body></html>", extractor)
    # trafilatura leaves paragraphs out that repeat.
    assert text.count("bold") == 2000 if extractor == "resiliparse" else 0 < text.count("bold") <= 2000


def f1(pages: Iterable[tuple[str, list[str], list[str]]], extractor: str) -> float:
    """Returns F1 over the segments of pages that the text must have, and those that it must not have."""
    wanted = found = unwanted = 0
    for page, with_segments, without_segments in pages:
        text = " ".join(extract_text(page, extractor).split())
        wanted += len(with_segments)
        found += sum(" ".join(each.split()) in text for each in with_segments)
        unwanted += sum(" ".join(each.split()) in text for each in without_segments)
    return 2 * found / (wanted + found + unwanted)


def real_pages():
    folder = shared_data("web_html")
    for gold in json.loads((folder / "evaldata.json").read_text(encoding="utf-8")).values():
        path = folder / "html" / gold["file"]
        if path.exists():
            yield decode_page(path.read_bytes()), gold["with"], gold["without"]


def made_up_pages():
    """Yields articles between a menu, a list of links at the side, and a footer."""
    for number in range(12):
        article = [f"{SENTENCE}This is paragraph {place} of page {number}. {SENTENCE}" for place in range(3)]
        links = [f"Go to section {place} of site {number}" for place in range(5)]
        menu, side = ("".join(f'<li><a href="/{each}">{each}</a></li>' for each in links[n:]) for n in (0, 2))
        text = "".join(f"<p>{each}</p>" for each in article)
        notice = f"Copyright of site {number}, all rights are reserved"
        page = (
            f"<html><body><nav><ul>{menu}</ul></nav><article><h1>Page {number}</h1>{text}</article>"
            f'<aside class="sidebar"><ul>{side}</ul></aside><footer>{notice}</footer></body></html>'
        )
        yield page, article, [*links, notice]


@pytest.mark.repeated
@pytest.mark.parametrize(("extractor", "floor"), [("trafilatura", 0.92), ("resiliparse", 0.87)])
@pytest.mark.needs_data("web_html", twin="test_f1_on_made_up_pages")
def test_f1_on_the_gold_segments(extractor, floor):
    assert f1(real_pages(), extractor) > floor


@pytest.mark.parametrize("extractor", EXTRACTORS)
def test_f1_on_made_up_pages(extractor):
    assert f1(made_up_pages(), extractor) == 1.0
