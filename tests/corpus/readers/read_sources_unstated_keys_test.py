"""Keys of a recipe under which no record of a source has anything, such as a misspelt one."""

import json

import pytest

from firth.corpus.readers.read_sources import list_unstated_keys
from firth.corpus.report.limits import report_warnings
from firth.recipes.corpus.sources import JsonlSource, ParquetSource, TextSource
from tests.corpus.helpers import CLEANING, clean, read_to
from tests.corpus.source_files import parquet

RECORDS = [{"text": f"Page {n} of some words.", "url": f"http://a/{n}", "terms": "MIT"} for n in range(40)]


@pytest.fixture
def folder(tmp_path):
    for part in range(4):
        lines = "".join(json.dumps(each) + "\n" for each in RECORDS[part::4])
        (tmp_path / f"{part}.jsonl").write_text(lines)
    (tmp_path / "a.parquet").write_bytes(parquet({"text": ["One.", "Two."], "url": ["", "http://b/"]}))
    (tmp_path / "a.txt").write_text("A text.")
    return tmp_path


def source(folder, name="web", **keys):
    return JsonlSource(kind="jsonl", name=name, paths=(f"{folder}/*.jsonl",), **keys)


def test_each_key_that_no_record_has_is_named_and_one_that_some_have_is_not(folder):
    nested = ParquetSource(kind="parquet", paths=(f"{folder}/a.parquet",), uri_key="meta.url")
    some = ParquetSource(kind="parquet", name="some", paths=(f"{folder}/a.parquet",), uri_key="url")
    text = TextSource(kind="text", paths=(f"{folder}/a.txt",))
    web = source(folder, uri_key="URL", licence_key="licence", id_key="id")
    read_to(folder, [web, nested, source(folder, "stated", uri_key="url", licence_key="terms"), some, text])
    assert list_unstated_keys(str(folder)) == [
        "source 'parquet': no record has an address under uri_key: meta.url",
        "source 'web': no record has a licence other than the source's under licence_key: licence",
        "source 'web': no record has an address under uri_key: URL",
    ]


def test_the_corpus_report_warns_of_it(folder):
    documents = read_to(folder, [source(folder, uri_key="URL")])
    report = clean(folder, documents, CLEANING)
    warnings = ["source 'web': no record has an address under uri_key: URL"]
    assert report["unstated_keys"] == warnings
    assert report_warnings(report)[-1:] == warnings


def test_a_corpus_that_was_not_read_by_firth_has_no_such_keys(tmp_path):
    assert list_unstated_keys(str(tmp_path)) == []
