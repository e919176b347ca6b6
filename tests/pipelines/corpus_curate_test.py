"""The corpus part alone, on text made here: what it keeps and writes, its cache, and how it is stopped."""

import gzip
import json
import os
import pathlib
import shutil

import pytest
from pyarrow import dataset
from typer.testing import CliRunner

from firth.cli.main import app
from firth.corpus import CorpusLimitsError, Document
from firth.pipelines import local
from firth.pipelines.pretrain import create_pipeline
from firth.recipes import load_recipe
from tests.corpus.helpers import read_records

RECIPE = """\
sources: [{{kind: text, name: plays, documents: blank_line, paths: [{folder}/*.txt], licence: CC0}}]
cleaning:
  steps:
    - {{kind: length, min_words: 4}}
    - {{kind: bad_words, lists: [{{path: {folder}/words.list}}]}}
    - {{kind: exact_duplicates}}
  split: {{eval_fraction: 0.2}}
"""
TEXTS = [f"The whale number {i} rose from the sea." for i in range(20)]
DROPPED = ["Too short.", "Damn this white whale of yours.", TEXTS[0]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("curate")
    (folder / "a.txt").write_text("\n\n".join([*TEXTS, *DROPPED]))
    (folder / "words.list").write_text("damn\n")
    (folder / "mine.yaml").write_text(RECIPE.format(folder=folder))
    return folder


def recipe(folder, *overrides):
    return load_recipe(folder / "mine.yaml", overrides)


@pytest.fixture(scope="module")
def first(folder):
    return local.curate(recipe(folder), folder / "runs")


def ran(result):
    return {component.name for component in result.components if component.state == "finished"}


def test_documents_report_and_page(first, folder):
    names = [component.name for component in first.components]
    behind = ["CorpusExampleGen", "Curator", "CorpusReporter", "CorpusValidator"]
    assert [name for name in names if name in behind] == behind and "ExampleValidator" in names
    examples = first.outputs["Curator"]["examples"]
    kept = {Document.from_example(each).text for each in read_records(f"{examples}/Split-*/*")}
    assert kept == set(TEXTS)
    page = (first.run_dir / "corpus_report.html").read_text()
    assert "23 in = 20 kept + 3 dropped + 0 rejected" in page and "Damn this white whale" in page
    assert not (first.run_dir / "run.json").exists() and not (first.run_dir / "report.html").exists()


def test_the_corpus_is_given_out_in_other_formats_without_cleaning_again(first, folder):
    result = local.curate(recipe(folder, "outputs=[{kind: parquet}, {kind: jsonl}]"), folder / "runs")
    assert "CorpusExporter" in ran(result) and "Curator" not in ran(result)
    corpus = result.outputs["CorpusExporter"]["corpus"]
    sizes = json.loads((corpus / "outputs.json").read_text())
    assert {kind: sum(size["documents"] for size in sizes[kind].values()) for kind in sizes} == {
        "parquet": len(TEXTS),
        "jsonl": len(TEXTS),
    }
    sheet = json.loads((corpus / "datasheet.json").read_text())
    assert sum(row["documents"] for row in sheet["splits"]) == len(TEXTS) and sheet["fingerprint"]
    assert "| plays | text |" in (corpus / "README.md").read_text()
    texts = dataset.dataset(corpus / "parquet").to_table()["text"].to_pylist()
    assert set(texts) == set(TEXTS)
    for made in (corpus, first.outputs["Curator"]["report"]):
        for path in filter(pathlib.Path.is_file, made.rglob("*")):
            content = path.read_bytes()
            content = gzip.decompress(content) if path.suffix == ".gz" else content
            assert str(folder).encode() not in content, path
    shutil.rmtree(corpus)


def test_no_text_stands_in_metadata(first):
    """A document that is kept, and quoted nowhere, is in the artifacts of documents alone."""
    documents = {first.outputs[name]["examples"] for name in ("CorpusExampleGen", "Curator")}
    others = [
        path
        for path in first.run_dir.rglob("*")
        if path.is_file() and not documents.intersection(path.parents)
    ]
    assert len(others) > 10
    for path in others:
        content = path.read_bytes()
        content = gzip.decompress(content) if path.suffix == ".gz" else content
        assert b"number 7 rose" not in content, path


@pytest.mark.repeated
def test_a_source_that_changed_stops_before_the_cleaning(first, folder, tmp_path):
    schema = first.run_dir / "schema.pbtxt"
    assert first.new_schema == schema and "min_domain_mass: 0.9\n" in schema.read_text()
    (folder / "b.txt").write_bytes(b"\n\n".join([b"\xff\xfe"] * 5))
    try:
        with pytest.raises(local.RunFailedError, match=r"plays/outcome: .*invalid_utf8") as caught:
            local.curate(recipe(folder), folder / "runs")
        assert caught.value.component == "AnomalyValidator"
        assert f"the schema {schema}" in str(caught.value)
        pinned = tmp_path / "pinned.pbtxt"
        pinned.write_text(schema.read_text().replace("mass: 0.9", "mass: 0.5"))
        passed = local.curate(recipe(folder, f"source_schema={pinned}"), folder / "runs")
        assert passed.new_schema is None and {"Curator", "PinnedSchemaGen"} <= ran(passed)
        pinned.write_text(schema.read_text())
        with pytest.raises(local.RunFailedError, match="plays/outcome"):
            local.curate(recipe(folder, f"source_schema={pinned}"), folder / "runs")
    finally:
        (folder / "b.txt").unlink()


def test_a_broken_limit_stops_it_with_the_page_written_and_nothing_cleaned_again(first, folder):
    limits = "cleaning.limits={max_dropped_fraction: 0.1, min_documents: 20}"
    (first.run_dir / "corpus_report.html").unlink()
    with pytest.raises(local.RunFailedError, match=r"max_dropped_fraction .*0\.1, .*0\.1304 ") as caught:
        local.curate(recipe(folder, limits), folder / "runs")
    assert caught.value.component == "CorpusValidator"
    assert isinstance(caught.value.__cause__, CorpusLimitsError)
    assert "min_documents" not in str(caught.value)
    page = caught.value.corpus_page
    assert page == first.run_dir / "corpus_report.html" and "broken" in page.read_text()
    report = pathlib.Path(str(caught.value).split("The report is ")[1])
    assert json.loads(report.read_text())["funnel"]
    timings = json.loads((first.run_dir / "timings.json").read_text())
    assert timings["CorpusValidator"]["state"] == "failed"
    relaxed = local.curate(recipe(folder, "cleaning.limits.max_dropped_fraction=0.2"), folder / "runs")
    assert ran(relaxed) == {"CorpusReporter", "CorpusValidator"}


@pytest.mark.repeated
def test_a_changed_file_of_a_step_cleans_again_and_one_that_is_touched_is_not_read(first, folder):
    # The second run is the first one that compares with the schema which `first` has written.
    local.curate(recipe(folder), folder / "runs")
    os.utime(folder / "a.txt", (1, 1))
    os.utime(folder / "words.list", (1, 1))
    assert ran(local.curate(recipe(folder), folder / "runs")) == set()
    (folder / "words.list").write_text("damn\nnumber 7\n")
    changed = local.curate(recipe(folder), folder / "runs")
    assert "Curator" in ran(changed) and "CorpusExampleGen" not in ran(changed)
    examples = changed.outputs["Curator"]["examples"]
    kept = {Document.from_example(each).text for each in read_records(f"{examples}/Split-*/*")}
    assert kept == {text for text in TEXTS if "number 7" not in text}
    (folder / "words.list").write_text("damn\n")


def test_the_pre_training_pipeline_begins_with_the_same_components(folder):
    from firth.pipelines import corpus as curate

    parts = [
        {each.id: each for each in make(recipe(folder), str(folder / "p")).components}
        for make in (curate.create_pipeline, create_pipeline)
    ]
    alone, whole = parts
    for name, component in alone.items():
        assert type(whole[name]) is type(component)
        assert whole[name].exec_properties == component.exec_properties
    assert whole["CorpusValidator"] in whole["TokenizerGen"].upstream_nodes
    assert whole["CorpusReporter"] in whole["CorpusValidator"].upstream_nodes


def test_limits_change_only_what_checks_and_shows_them(folder):
    before, after = (
        {each.id: each.exec_properties for each in create_pipeline(changed, str(folder / "p")).components}
        for changed in (recipe(folder), recipe(folder, "cleaning.limits.min_documents=3"))
    )
    assert {name for name in before if before[name] != after[name]} == {
        "CorpusReporter",
        "CorpusValidator",
        "Reporter",
    }


def test_why_a_document_is_gone_or_kept(folder, first):
    def why(wanted):
        asked = CliRunner().invoke(app, ["curation", "why", "mine", wanted, "--root", str(folder / "runs")])
        return asked.exit_code, asked.output

    (folder / "bad.txt").write_bytes(b"\xff")
    try:
        keys = (
            "cleaning.list_dropped=true",
            # All but the document with the greatest hash.
            f"sources.0.sample={{documents: {len(TEXTS) + len(DROPPED) - 1}}}",
            "cleaning.steps.2.add_metadata=true",
            "outputs=[{kind: jsonl, compression: none}]",
            f"source_schema={tolerant(first)}",
        )
        result = local.curate(recipe(folder, *keys), folder / "runs")
        assert "Curator" in ran(result)
    finally:
        (folder / "bad.txt").unlink()
    places = {text: f"a.txt#L{2 * i + 1}" for i, text in enumerate([*TEXTS, *DROPPED])}
    code, said = why(places["Too short."])
    assert code == 0 and "dropped by length: too_few_words" in said
    assert "dropped by read: not_sampled" in why(places[TEXTS[9]])[1]
    assert "dropped by bad_words" in why(places["Damn this white whale of yours."])[1]
    code, said = why(places[TEXTS[5]])
    assert code == 0 and "kept, in " in said
    files = (result.outputs["CorpusExporter"]["corpus"] / "jsonl").glob("*/*.jsonl")
    rows = [json.loads(line) for path in files for line in path.read_text().splitlines()]
    copied = next(row for row in rows if row["text"] == TEXTS[0])
    assert copied["metadata"] == {
        "exact_duplicates.cluster": copied["id"],
        "exact_duplicates.cluster_size": 2,
    }
    answers = why("a.txt#L1")[1] + why("a.txt#L45")[1]
    assert f"dropped by exact_duplicates: duplicate of {copied['id']}" in answers
    assert "rejected while it was read: invalid_utf8" in why("bad.txt")[1]
    code, said = why("nothing.txt")
    assert code == 1 and "nothing.txt" in said


def tolerant(first):
    """A schema that lets a few broken records pass."""
    path = first.run_dir / "tolerant.pbtxt"
    path.write_text((first.run_dir / "schema.pbtxt").read_text().replace("mass: 0.9", "mass: 0.5"))
    return path
