"""Samples of sources: which documents, how many, and how the others are counted."""

import json

import pytest

from firth.corpus import SourceError
from firth.recipes import SourceSample
from firth.recipes.corpus.sources import JsonlSource
from tests.corpus.helpers import read_to

FILES, LINES = 6, 200


@pytest.fixture
def folder(tmp_path):
    for file in range(FILES):
        lines = (json.dumps({"text": f"Text {line} of file {file}."}) for line in range(LINES))
        (tmp_path / f"{file}.jsonl").write_text("\n".join(lines))
    (tmp_path / "other.json").write_text('{"text": "Another source."}\n')
    return tmp_path


def source(folder, name="docs", files="*.jsonl", **sample):
    return JsonlSource(
        kind="jsonl",
        name=name,
        paths=(f"{folder}/{files}",),
        sample=SourceSample(**sample) if sample else None,
    )


def read(folder, *sources):
    """Returns the texts read, and the number of documents by source, outcome and reason."""
    documents = read_to(folder / "out", sources)
    flows = json.loads((folder / "out" / "source_counts.json").read_text())["flows"]
    counts = {(each["source"], each["outcome"], each["reason"]): each["documents"] for each in flows}
    return {each.text for each in documents if each.source == "docs"}, counts


@pytest.mark.parametrize("sample", [{"fraction": 0.1}, {"documents": 100}])
def test_the_sample_does_not_depend_on_what_else_is_read(folder, monkeypatch, sample):
    texts, counts = read(folder, source(folder, **sample))
    with_another, _ = read(folder, source(folder, name="other", files="other.json"), source(folder, **sample))
    monkeypatch.setattr("firth.corpus.readers.read.BATCH_BYTES", 1)
    apart, of_parts = read(folder, source(folder, **sample))
    assert texts == with_another == apart and counts == of_parts
    assert counts["docs", "kept", ""] == len(texts)
    assert counts["docs", "kept", ""] + counts["docs", "dropped", "not_sampled"] == FILES * LINES
    other_seed, _ = read(folder, source(folder, **sample, seed=1))
    assert len(texts & other_seed) < len(texts) / 2


def test_a_number_of_documents_is_exact_and_a_larger_sample_holds_a_smaller(folder):
    small, counts = read(folder, source(folder, documents=7))
    large, _ = read(folder, source(folder, documents=150))
    assert (len(small), len(large)) == (7, 150) and small < large
    assert counts["docs", "dropped", "not_sampled"] == FILES * LINES - 7
    everything, counts = read(folder, source(folder, documents=10_000))
    assert len(everything) == FILES * LINES and ("docs", "dropped", "not_sampled") not in counts


def test_a_share_is_near_what_is_asked_and_from_all_files(folder):
    texts, _ = read(folder, source(folder, fraction=0.25))
    # Five standard deviations of a binomial distribution are 75.
    assert abs(len(texts) - FILES * LINES / 4) < 75
    assert {text.rpartition(" ")[2] for text in texts} == {f"{file}." for file in range(FILES)}


@pytest.mark.parametrize("given", [{}, {"fraction": 0.1, "documents": 5}])
def test_one_size_is_given(given):
    with pytest.raises(ValueError, match="give a fraction or a number of documents, and not both"):
        SourceSample(**given)


def test_a_sample_that_holds_nothing_says_so(folder):
    with pytest.raises(
        SourceError, match=r"no document: `sample` holds none of 1 documents; make it larger$"
    ):
        read(folder, source(folder, files="other.json", fraction=1e-9))
