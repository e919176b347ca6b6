"""The list of dropped documents: all of them, once, the same on any number of workers."""

import json

import pytest

from firth.corpus.privacy.excerpts import scrubber_for
from firth.corpus.readers.dropped_documents import find_dropped
from firth.recipes.corpus.cleaning import Cleaning
from firth.storage import glob
from tests.corpus.helpers import CLEANING, clean, document, make_pipeline, make_pipeline_of_two

LISTED = CLEANING.model_copy(update={"list_dropped": True})
DOCUMENTS = [
    *(document(f"The whale number {i} rose.", f"{i}.txt") for i in range(20)),
    document("Short.", "jane@roe.org.txt"),
    document("The whale number 3 rose.", "copy.txt"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return listed(tmp_path_factory.mktemp("dropped"))


def listed(folder, pipeline=make_pipeline):
    """Returns the folder of a report with the dropped documents."""
    report = clean(folder, DOCUMENTS, LISTED, pipeline)
    assert sum(size["documents"] for row in report["funnel"] for size in row["dropped"].values()) == 2
    return folder / "report"


def test_each_is_found_by_its_id_and_by_its_address(folder):
    scrubber = scrubber_for(LISTED)
    short, copies = DOCUMENTS[-2], (DOCUMENTS[3], DOCUMENTS[-1])
    for wanted in (short.id, short.uri):
        (row,) = find_dropped(str(folder), wanted, scrubber)
        assert (row.id, row.step, row.reason) == (short.id, "length", "too_few_words")
        assert row.uri == "<EMAIL>.txt"
    (row,) = [row for each in copies for row in find_dropped(str(folder), each.id, scrubber)]
    assert (row.step, row.reason, row.source) == ("exact_duplicates", "duplicate", "docs")
    assert find_dropped(str(folder), DOCUMENTS[1].id, scrubber) == []


@pytest.mark.repeated
def test_the_files_are_the_same_on_any_number_of_workers(folder, tmp_path):
    folders = (folder, listed(tmp_path, make_pipeline_of_two))
    found = [[path.read_bytes() for path in sorted((each / "dropped").iterdir())] for each in folders]
    assert found[0] == found[1] and found[0]


def test_without_the_key_nothing_is_listed(tmp_path):
    assert not Cleaning().list_dropped
    report = clean(tmp_path, DOCUMENTS, CLEANING)
    assert glob(f"{tmp_path}/report/dropped/*") == [] and json.dumps(report)
