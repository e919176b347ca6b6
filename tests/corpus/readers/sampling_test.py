"""Samples of sources: which documents, how many, and how the others are counted."""

import json
from collections import Counter

import pytest
from pyarrow import parquet

from firth.corpus import SourceError
from firth.corpus.privacy.pii import Pii
from firth.corpus.readers.dropped_documents import find_dropped
from firth.recipes import SourceSample
from firth.recipes.corpus.privacy import PiiStep
from firth.recipes.corpus.sources import JsonlSource
from tests.corpus.helpers import make_pipeline_of_two, read_to

FILES, LINES = 6, 60
SHARE, NUMBER = {"fraction": 0.25}, {"documents": 40}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sources")
    for file in range(FILES):
        lines = (json.dumps({"text": f"Text {line} of file {file}."}) for line in range(LINES))
        (folder / f"{file}.jsonl").write_text("\n".join(lines))
    (folder / "other.json").write_text('{"text": "Another source."}\n')
    return folder


def source(folder, name, files="*.jsonl", **sample):
    return JsonlSource(
        kind="jsonl",
        name=name,
        paths=(f"{folder}/{files}",),
        sample=SourceSample(**sample) if sample else None,
    )


def read(out, *sources):
    """Returns the texts read of each source, and the number of documents by source, outcome and reason."""
    documents = read_to(out, sources)
    # Nothing is listed without being asked for.
    assert not (out / "dropped").exists()
    flows = json.loads((out / "source_counts.json").read_text())["flows"]
    counts = {(each["source"], each["outcome"], each["reason"]): each["documents"] for each in flows}
    texts = {one.name: {each.text for each in documents if each.source == one.name} for one in sources}
    return texts, counts


@pytest.fixture(scope="module")
def sampled(tmp_path_factory, folder):
    """Texts and counts of a share, of a number, and of a number that is larger than the source."""
    out = tmp_path_factory.mktemp("sampled")
    sizes = {"share": SHARE, "number": NUMBER, "all": {"documents": 10_000}}
    return read(out, *(source(folder, name, **sample) for name, sample in sizes.items()))


@pytest.mark.repeated
def test_the_sample_does_not_depend_on_what_else_is_read_nor_on_batches(
    tmp_path, folder, sampled, monkeypatch
):
    texts, counts = sampled
    monkeypatch.setattr("firth.corpus.readers.read_sources.BATCH_BYTES", 1)
    another = source(folder, "other", "other.json")
    found, found_counts = read(
        tmp_path, another, source(folder, "number", **NUMBER), source(folder, "share", **SHARE)
    )
    for name in ("share", "number"):
        assert found[name] == texts[name]
        kept = counts[name, "kept", ""]
        assert kept == found_counts[name, "kept", ""] == len(texts[name])
        assert kept + counts[name, "dropped", "not_sampled"] == FILES * LINES
    assert found["other"] == {"Another source."}


def test_another_seed_is_another_sample_and_a_larger_sample_holds_a_smaller(tmp_path, folder, sampled):
    texts, _ = sampled
    small, other = source(folder, "number", documents=7), source(folder, "share", **SHARE, seed=1)
    found, counts = read(tmp_path, small, other)
    assert len(found["number"]) == 7 and found["number"] < texts["number"]
    assert counts["number", "dropped", "not_sampled"] == FILES * LINES - 7
    assert len(found["share"] & texts["share"]) < len(texts["share"]) / 2


def test_a_number_of_documents_is_exact_and_no_more_than_there_are(sampled):
    texts, counts = sampled
    assert len(texts["number"]) == 40
    assert len(texts["all"]) == FILES * LINES and ("all", "dropped", "not_sampled") not in counts


def test_a_share_is_near_what_is_asked_and_from_all_files(sampled):
    texts = sampled[0]["share"]
    # Five standard deviations of a binomial distribution are 41.
    assert abs(len(texts) - FILES * LINES / 4) < 41
    assert {text.rpartition(" ")[2] for text in texts} == {f"{file}." for file in range(FILES)}


@pytest.mark.parametrize("given", [{}, {"fraction": 0.1, "documents": 5}])
def test_one_size_is_given(given):
    with pytest.raises(ValueError, match=r"fraction.*number of documents"):
        SourceSample(**given)


def test_a_sample_that_holds_nothing_says_so(tmp_path, folder):
    with pytest.raises(SourceError, match=r"`sample` .* 1 documents"):
        read(tmp_path, source(folder, "docs", "other.json", fraction=1e-9))


def test_documents_that_are_left_out_are_listed_each_once(tmp_path, folder, monkeypatch):
    monkeypatch.setattr("firth.corpus.readers.read_sources._ROWS_AN_ELEMENT", 7)
    monkeypatch.setattr("firth.corpus.readers.read_sources.BATCH_BYTES", 1)
    sizes = {"share": SHARE, "number": NUMBER, "all": {"documents": 10_000}, "whole": {}}
    sources = [source(folder, name, **sample) for name, sample in sizes.items()]
    kept = read_to(tmp_path, sources, dropped_files=3, made=make_pipeline_of_two)
    files = sorted((tmp_path / "dropped").iterdir())
    rows = [row for path in files for row in parquet.read_table(path).to_pylist()]
    flows = json.loads((tmp_path / "source_counts.json").read_text())["flows"]
    counted = {each["source"]: each["documents"] for each in flows if each["outcome"] == "dropped"}
    assert Counter(row["source"] for row in rows) == counted and counted.keys() == {"share", "number"}
    assert {(row["step"], row["reason"], row["match"]) for row in rows} == {("read", "not_sampled", "")}
    ids = [row["id"] for row in rows]
    assert len(set(ids)) == len(ids) and not {each.id for each in kept} & set(ids)
    (found,) = find_dropped(str(tmp_path), rows[0]["uri"], Pii(PiiStep(kind="pii")))[:1]
    assert found.uri == rows[0]["uri"]
