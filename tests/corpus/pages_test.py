import json

import pytest

from firth.corpus.pages import EXTRACTORS, decode_page, extract_text
from tests.corpus.helpers import shared_data

JAPANESE = "これは日本語の文章です。もう一つの文章もここにあります。"
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
