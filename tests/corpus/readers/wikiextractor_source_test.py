import pytest

from firth.recipes.corpus.sources import WikiextractorSource
from tests.corpus.readers.reading import outcomes, read
from tests.shared_data import shared_data

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


@pytest.mark.repeated
@pytest.mark.needs_data("wiki_extract", twin="test_articles_of_several_files")
def test_real_articles():
    folder = shared_data("wiki_extract")
    documents = read(WikiextractorSource(kind="wikiextractor", paths=(f"{folder}/wiki_*",)))
    assert len(documents) == 37 + 41 + 43 + 32
    assert documents[0].uri == "https://en.wikipedia.org/wiki?curid=12"
    assert documents[0].text.startswith("Anarchism\n\nAnarchism is")


def test_articles_of_several_files(tmp_path):
    for name, numbers in (("wiki_00", (12, 25)), ("wiki_01", (39,))):
        articles = (
            f'<doc id="{n}" url="https://w/?curid={n}" title="T{n}">\nT{n}\n\nT{n} is.\n</doc>\n'
            for n in numbers
        )
        (tmp_path / name).write_text("".join(articles))
    documents = read(WikiextractorSource(kind="wikiextractor", paths=(f"{tmp_path}/wiki_*",)))
    assert [each.uri for each in documents] == [f"https://w/?curid={n}" for n in (12, 25, 39)]
    assert documents[0].text == "T12\n\nT12 is."
