import pytest

from firth.recipes.corpus.sources import WikiextractorSource
from tests.corpus.helpers import shared_data
from tests.corpus.readers.reading import outcomes, read

WIKI = {
    '<doc id="1" url="http://w/1" title="A "b"">\nA "b"\n\nText.\n</doc>\n': ['A "b"\n\nText.'],
    '<doc id="1">\nOne.\n<doc id="2">\nTwo.\n</doc>': [(1, "unclosed_document"), "Two."],
    '<doc id="1">\nOne.': [(1, "unclosed_document")],
    'Lost.\nwords\n<doc id="1">\nOne.\n</doc>\n\n\nmore': [
        (1, "outside_documents"),
        "One.",
        (8, "outside_documents"),
    ],
    "</doc>\n": [(1, "outside_documents")],
    '<doc id="1">\n\n</doc>\n': [(1, "empty")],
    '<doc id="1">\n' + "x" * 200 + '\n</doc>\n<doc id="2">\nTwo.\n</doc>': [(1, "too_long"), "Two."],
}


@pytest.mark.parametrize("content", WIKI)
def test_wikiextractor(tmp_path, content):
    (tmp_path / "a").write_text(content)
    source = WikiextractorSource(kind="wikiextractor", paths=(f"{tmp_path}/a",), max_document_bytes=100)
    assert outcomes(source) == WIKI[content]


def test_real_articles():
    folder = shared_data("wiki_extract")
    documents = read(WikiextractorSource(kind="wikiextractor", paths=(f"{folder}/wiki_*",)))
    assert len(documents) == 37 + 41 + 43 + 32
    assert documents[0].uri == "https://en.wikipedia.org/wiki?curid=12"
    assert documents[0].text.startswith("Anarchism\n\nAnarchism is")
