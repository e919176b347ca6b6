"""A datasheet says what the report counts, and leaves open what no count answers."""

import pytest
import yaml

from firth.corpus import SPLITS
from firth.corpus.report.datasheet import OPEN, datasheet_page, make_datasheet, spdx_of
from firth.recipes.corpus.sources import TextSource
from tests.corpus.helpers import CLEANING, clean, document

LICENCES = ("CC BY 4.0", "unknown", "my | <own>")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The report of a curation and its datasheet."""
    documents = [document(f"The whale number {i} rose.", f"{i}", licence=LICENCES[i % 3]) for i in range(30)]
    documents += [document("One.", "short"), document("The whale number 0 rose.", "copy")]
    report = clean(tmp_path_factory.mktemp("sheet"), documents, CLEANING)
    sources = [TextSource(kind="text", name="docs", paths=("a/*.txt",), licence="CC BY 4.0")]
    return report, make_datasheet("demo", sources, "f00", "d00", "2026-11-25", report)


def test_it_says_what_the_report_counts(made):
    report, sheet = made
    assert {row["split"] for row in sheet["splits"]} == set(SPLITS)
    for unit in ("documents", "bytes", "words"):
        total = sum(row[unit] for row in report["splits"])
        assert sum(row[unit] for row in sheet["splits"]) == total
        assert sum(row[unit] for row in sheet["licences"]) == total
    assert {row["licence"]: row["spdx"] for row in sheet["licences"]} == {
        "CC BY 4.0": "CC-BY-4.0",
        "unknown": None,
        "my | <own>": None,
    }
    assert sheet["documents_of_unknown_licence"] == 10
    assert {(row["step"], row["rule"]): row["documents"] for row in sheet["removed"]} == {
        ("length", "too_few_words"): 1,
        ("exact_duplicates", "duplicate"): 1,
    }
    assert sum(sheet["languages"].values()) == 30


def test_the_page_has_the_facts_and_leaves_questions_open(made):
    _, sheet = made
    page = datasheet_page(sheet)
    assert "| CC BY 4.0 | CC-BY-4.0 | 10 |" in page
    assert "| length | too_few_words | dropped | 1 |" in page
    assert "The licence of 10 documents is not known." in page
    assert "my \\| &lt;own>" in page and "<own>" not in page.replace("&lt;own>", "")
    assert page.count(OPEN) == 5


def test_the_page_begins_with_what_the_hub_reads(made):
    report, _ = made
    files = [
        {"kind": kind, "split": split, "path": f"{kind}/{split}/*.{kind}"}
        for kind in ("parquet", "jsonl")
        for split in SPLITS
    ]
    page = datasheet_page(make_datasheet("demo: a", [], "f00", "d00", "2026-11-25", report, files=files))
    start, metadata, rest = page.split("---\n", 2)
    assert not start and rest.lstrip().startswith("# Datasheet of demo")
    read = yaml.safe_load(metadata)
    assert (read["pretty_name"], read["size_categories"]) == ("demo: a", ["n<1K"])
    assert read["license"] == ["cc-by-4.0", "unknown"] and "en" in read["language"]
    assert read["configs"] == [
        {
            "config_name": kind,
            "data_files": [{"split": each, "path": f"{kind}/{each}/*.{kind}"} for each in SPLITS],
        }
        for kind in ("parquet", "jsonl")
    ]


def test_a_licence_without_its_version_has_no_identifier():
    assert [spdx_of(each) for each in ("mit", "CC-BY-SA-3.0", "CC BY", "public domain", "")] == [
        "MIT",
        "CC-BY-SA-3.0",
        None,
        None,
        None,
    ]
