import json

import pytest

from firth.corpus.readers.pages import EXTRACTORS, decode_page, extract_text
from tests.corpus.helpers import shared_data

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
    assert decode_page(data, declared) == (text, None)


@pytest.mark.parametrize("extractor", EXTRACTORS)
@pytest.mark.parametrize("tag", ["div", "b", "table", "x-y", "font", "ul><li"])
def test_pages_ten_thousand_deep_are_refused_at_once(extractor, tag):
    page = f"<{tag}>" * 10_000 + "Deep." + f"</{tag.split('>')[0]}>" * 10_000
    assert extract_text(page, extractor) == ("", "nested_too_deeply")


@pytest.mark.parametrize("extractor", EXTRACTORS)
@pytest.mark.parametrize("attribute", ["a{} ", 'a{}=">" ', "a{}='<hr>'", "a{}/"])
def test_tags_of_many_attributes_are_refused_at_once(extractor, attribute):
    page = f"<p {''.join(attribute.format(i) for i in range(20_000))}>Many."
    assert extract_text(page, extractor) == ("", "too_many_attributes")


def test_scripts_are_no_tags_of_many_attributes():
    script = "for (i = 0; i<n; i++) { " + "a = b; " * 2000 + "}"
    page = f"<script>{script}</script><!-- <a {'b ' * 2000} --><p>{SENTENCE}"
    assert extract_text(page, "resiliparse")[0] == SENTENCE.strip()


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
        text, problem = extract_text(page, extractor)
        assert bool(text.strip()) == (problem is None), name


@pytest.mark.parametrize("extractor", EXTRACTORS)
def test_long_pages_are_no_deep_ones(extractor):
    paragraph = "<p>A paragraph of some length, with a <b>bold</b> word and a line<br>break, and no end."
    text, problem = extract_text(
        f"<html><body><article>{paragraph * 2000}</article></body></html>", extractor
    )
    assert problem is None
    assert text.count("bold") == (2000 if extractor == "resiliparse" else text.count("bold")) > 0


def measured(extractor: str) -> dict[str, float]:
    """Returns precision, recall and F1 over the segments that a page's text must and must not have."""
    folder = shared_data("web_html")
    pages = json.loads((folder / "evaldata.json").read_text(encoding="utf-8")).values()
    wanted = found = unwanted = 0
    for gold in pages:
        path = folder / "html" / gold["file"]
        if path.exists():
            page, _ = decode_page(path.read_bytes())
            text = " ".join(extract_text(page, extractor)[0].split())
            wanted += len(gold["with"])
            found += sum(" ".join(each.split()) in text for each in gold["with"])
            unwanted += sum(" ".join(each.split()) in text for each in gold["without"])
    precision, recall = found / (found + unwanted), found / wanted
    return {"precision": precision, "recall": recall, "f1": 2 * precision * recall / (precision + recall)}


@pytest.mark.parametrize(("extractor", "floor"), [("trafilatura", 0.92), ("resiliparse", 0.87)])
def test_f1_on_the_gold_segments(extractor, floor):
    assert measured(extractor)["f1"] > floor
