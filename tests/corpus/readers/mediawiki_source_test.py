"""Dumps of wikis: which pages are documents, and what is left of their markup."""

import bz2

import pytest

from firth.corpus.readers.mediawiki_source import plain_wikitext
from firth.recipes.corpus.sources import MediawikiSource
from tests.corpus.readers.reading import outcomes, read
from tests.corpus.source_files import dump

MARKUP = {
    "'''Moby-Dick''' is a ''novel'' by [[Herman Melville|Melville]].": "Moby-Dick is a novel by Melville.",
    "{{Infobox\n| a = {{b|c}}\n| d = {e}\n}}\nA [[whale]]s.": "A whales.",
    "One.\n{| class=x\n|-\n| {{y}} || {|\n| inner\n|}\n|}\nTwo.": "One.\n\nTwo.",
    "[[File:A.jpg|thumb|A [[ship]] of [[Ahab|the captain]].]]Text.": "Text.",
    "[[Datei:A.jpg|mini|Ein Schiff]]Text. [[Kategorie:Wale]]": "Text.",
    "See [[:Category:Whales]] and [[Moby: a novel]].[[de:Wal]]": "See Category:Whales and Moby: a novel.",
    "Text.<ref name=a>Page {{p|1}}</ref> More<ref name=a /> text.": "Text. More text.",
    "== History ==\n* One\n# Two\n:: Three": "History\nOne\nTwo\nThree",
    "See [https://a.org/b the page], [https://a.org], http://b.org.": "See the page, , http://b.org.",
    "a<br/>b<small>c</small><!-- d --> &amp; 3 &lt; 4 __NOTOC__": "a\nbc & 3 < 4",
    "One {{never closed. Two [[nor this. {| too.": "One {{never closed. Two [[nor this. {| too.",
    "One<math>x. Two.<ref>a": "Onex. Two.a",
    "{{a}} }} b": "}} b",
    # A template whose last value is empty, and braces in each other.
    "A {{a|b=|}} whale{{c|{{d|}}|}}.": "A  whale.",
    "A {{a|{{{b|}}}|}}whale{{{1|s}}}.": "A whales.",
    "{| a\n| {{b|c=|}}\n|}\nOne.\n{{d\n|}}\nTwo.": "One.\n\nTwo.",
    # What has no end leaves the rest as it would be without it.
    "A {{b. {{c}}Two.\n{{d|e}}\n== F ==\nThree.": "A {{b. Two.\n\nF\nThree.",
    "{|\n| A\n{{b}}One.<ref>c</ref>": "{|\n| A\nOne.",
    "{|\n| {{A\n|}\nTwo.": "Two.",
    "One<math>x. Two.<ref>a</ref> Three.": "Onex. Two. Three.",
    "One<ref>a<math>b</ref> two</math> three.": "One two three.",
    "One<ref>c</ref><ref>a<math>b</ref> two</math> three.": "One two three.",
    "{{e|One [[a|b]]<ref>{{f|}}</ref>": "{{e|One b",
    # Templates whose text belongs to the sentence.
    "{{lang|fr|[[a|Le chat]]}}, {{lang-de|Katze|x=y}}, {{nobr|{{cvt|5|km|mi}}}}": "Le chat, Katze, 5 km",
    "{{ Lang |fr}} {{lang}} {{lang|fr|{{lang|de|a}}b}}": "ab",
}


@pytest.mark.parametrize("markup", MARKUP)
def test_plain_text_of_markup(markup):
    assert plain_wikitext(markup, {"datei", "kategorie"}) == MARKUP[markup]


def test_markup_without_end_costs_linear_time():
    for mark in (
        "{{",
        "[[",
        "<ref>",
        "<!--",
        "{|",
        "== ",
        "''",
        "[http://a ",
        "{{lang|",
        "{{lang|a}}",
        "<ref></math>",
        "{{{",
        "|}}",
        "<br",
        "=\n",
        "\n \n",
    ):
        assert plain_wikitext(mark * 20_000 + "x") is not None


def test_pages_of_a_dump(tmp_path):
    head = '<namespaces><namespace key="6">Datei</namespace><namespace key="1">Talk</namespace></namespaces>'
    content = dump(
        [("Moby Dick", "[[Datei:a]]A ''whale'' & more."), ("Käse", "Cheese."), ("None", "{{x}}")], head
    )
    pages = (
        b"<page><title>Talk:A</title><ns>1</ns><revision><text>Talk.</text></revision></page>"
        b'<page><title>B</title><ns>0</ns><redirect title="C"/><revision><text>#R</text></revision></page>'
        b"<page><title>C</title><ns>0</ns><revision><model>json</model><text>{}</text></revision></page>"
        b"<page><title>D</title><ns>0</ns><revision><text>" + b"long " * 40 + b"</text></revision></page>"
    )
    content = content.replace(b"</mediawiki>", pages + b"</mediawiki>")
    (tmp_path / "a.xml.bz2").write_bytes(bz2.compress(content))
    keys = ("title", "timestamp")
    source = MediawikiSource(
        kind="mediawiki", paths=(f"{tmp_path}/a.*",), metadata_keys=keys, max_document_bytes=150
    )
    assert outcomes(source) == [
        "A whale & more.",
        "Cheese.",
        (3, "empty"),
        (4, "other_namespace"),
        (5, "redirect"),
        (6, "not_wikitext"),
        (7, "too_long"),
    ]
    first, second, *_ = read(source)
    assert first.metadata == '{"title": "Moby Dick", "timestamp": "2026-11-28T10:00:00Z"}'
    assert (first.uri, second.uri) == (
        "https://en.wiki.example/wiki/Moby_Dick",
        "https://en.wiki.example/wiki/K%C3%A4se",
    )


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (dump([("A", "One."), ("B", "Two.")])[:-60], ["One.", (2, "malformed_xml")]),
        (b"no xml", [(1, "malformed_xml")]),
        (b'<!DOCTYPE a [<!ENTITY b "c">]><mediawiki>&b;</mediawiki>', [(1, "malformed_xml")]),
        (b" ", [(0, "empty")]),
    ],
)
def test_files_that_are_no_whole_dump(tmp_path, content, found):
    (tmp_path / "a.xml").write_bytes(content)
    assert outcomes(MediawikiSource(kind="mediawiki", paths=(f"{tmp_path}/a.xml",))) == found
