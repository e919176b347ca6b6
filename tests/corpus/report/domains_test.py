"""Counts by domain: sums, and which domains are shown."""

import dataclasses
import gzip
import json

import pytest

from firth.recipes import Cleaning, LengthStep, Split
from firth.reports import CorpusView, render_corpus_report
from tests.corpus.helpers import clean, document, make_pipeline, make_pipeline_of_two

CLEANING = Cleaning(steps=(LengthStep(kind="length", min_words=2),), split=Split(eval_fraction=0.3))
URLS = (
    "http://www.a.co.uk/1",
    "https://b.a.co.uk:80/2",
    "http://b.example/",
    "http://c.example/",
    "books/a.txt",
)


def report(folder, pipeline, top):
    documents = [
        dataclasses.replace(document(text, f"{number} {url}"), uri=url)
        for number, url in enumerate(URLS * 4)
        for text in ([f"Text {number}."] if number % 3 else ["Text."])
    ]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("firth.corpus.report.domains.TOP_DOMAINS", top)
        return clean(folder, documents, CLEANING, pipeline)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The folder and the report of a run with all domains."""
    folder = tmp_path_factory.mktemp("whole")
    return folder, report(folder, make_pipeline, 100)


def test_documents_are_counted_by_registered_domain_and_rule(whole):
    found = whole[1]["domains"]
    rows = {row["domain"]: row for row in found["largest"]}
    assert found["number"] == 4 and list(rows) == ["a.co.uk", "", "b.example", "c.example"]
    first = rows["a.co.uk"]
    assert (first["documents_in"], first["documents_kept"]) == (8, 5)
    assert first["dropped"] == {"length: too_few_words": 3}
    assert first["bytes_in"] == first["bytes_kept"] + 3 * len("Text.")
    assert sum(row["documents_in"] for row in rows.values()) == 4 * len(URLS)


def rows_in(folder):
    """All rows of the files, and the bytes of each file."""
    files = {path.name: path.read_bytes() for path in sorted(folder.rglob("domains/*"))}
    lines = b"".join(gzip.decompress(each) for each in files.values()).splitlines()
    return [json.loads(line) for line in lines], files


@pytest.mark.repeated
def test_two_workers_find_the_same_and_files_have_all_domains_whatever_the_report_shows(tmp_path, whole):
    folder, one = whole
    largest = one["domains"]["largest"]
    two = report(tmp_path, make_pipeline_of_two, 2)["domains"]
    assert two["number"] == 4 and two["largest"] == largest[:2]
    rows, files = rows_in(folder)
    assert sorted(row["domain"] for row in rows) == ["a.co.uk", "b.example", "c.example"]
    assert all(row in largest for row in rows)
    assert rows_in(tmp_path) == (rows, files)


def test_documents_without_pages_have_no_files_of_domains(tmp_path):
    clean(tmp_path, [document("A text."), document("Another text.")], CLEANING)
    assert not list(tmp_path.rglob("domains/*"))


def test_the_page_shows_domains_if_there_are_any():
    row = {"domain": "", "documents_in": 1}
    assert CorpusView({"domains": {"number": 1, "largest": [row]}}).domains["largest"] == []
    assert CorpusView({}).domains["largest"] == []
    both = [row, {**row, "domain": "a.example"}]
    assert CorpusView({"domains": {"number": 2, "largest": both}}).domains["largest"] == both


def test_the_page_has_a_row_for_each_domain(whole):
    page = render_corpus_report("web", CLEANING, CorpusView(whole[1]))
    assert "The 4 domains with most documents read, of 4." in page
    assert "a.co.uk" in page and "no URL" in page and "length: too_few_words 3" in page
