"""The recipes in examples/, as they are."""

import json
import pathlib
import subprocess
import sys

import apache_beam as beam
import pytest

from firth.corpus import ReadSources, curate
from firth.recipes import load_recipe
from tests.corpus.helpers import SHARED_DATA, shared_data
from tests.pipelines.beam_options_test import OPTIONS, NotRun, Translated

EXAMPLES = sorted((pathlib.Path(__file__).parents[2] / "examples").glob("*.yaml"))
EVERY_SOURCE = next(path for path in EXAMPLES if path.stem == "every_source")
# Two books of thirty and one package of five: enough to go every way.
FEWER = ("sources.0.paths=[gutenberg_books/1*.txt]", "sources.12.packages=[keras]")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_is_a_recipe(path):
    assert load_recipe(str(path)).sources


def data() -> pathlib.Path:
    for path in ("gutenberg_books", "web_html/html", "commoncrawl", "glue", "xsum", "multi30k_en_de"):
        shared_data(path)
    return SHARED_DATA


def test_every_source_goes_through_with_one_command(tmp_path):
    overrides = [word for each in FEWER for word in ("--set", each)]
    process = subprocess.run(
        [sys.executable, "-m", "firth", "curate", EVERY_SOURCE, "--root", tmp_path, *overrides],
        cwd=data(),
        capture_output=True,
        text=True,
    )
    assert process.returncode == 0, process.stderr[-3000:]
    recipe = load_recipe(str(EVERY_SOURCE))
    (found,) = tmp_path.glob("*/pipeline/Curator/report/*/corpus_report.json")
    report = json.loads(found.read_text())
    names = {source.name for source in recipe.sources}
    rows = {(row["step"], row["source"]): row for row in report["funnel"]}
    assert {source for _, source in rows} == names
    assert all(rows["read", name]["documents_in"] > 0 for name in names)
    for row in rows.values():
        lost = sum(each["documents"] for fate in ("dropped", "rejected") for each in row[fate].values())
        assert row["documents_in"] == row["documents_kept"] + lost
    page = (tmp_path / "every_source" / "corpus_report.html").read_text()
    benchmarks = next(step.benchmarks for step in recipe.cleaning.steps if step.kind == "decontaminate")
    for name in names | {each.name for each in benchmarks}:
        assert f">{name}<" in page, name


@pytest.mark.parametrize("runner", OPTIONS)
def test_every_source_is_translated_for_the_runner_unchanged(runner, tmp_path, monkeypatch):
    monkeypatch.chdir(data())
    recipe = load_recipe(str(EVERY_SOURCE))

    def make_pipeline():
        return NotRun(argv=OPTIONS[runner])

    with pytest.raises(Translated) as read, make_pipeline() as pipeline:
        _ = pipeline | ReadSources(recipe.sources, str(tmp_path))
    splits = {"train": f"{tmp_path}/train", "eval": f"{tmp_path}/eval"}
    with pytest.raises(Translated) as cleaned:
        curate(make_pipeline, str(tmp_path), f"{tmp_path}/*", recipe.cleaning, splits, str(tmp_path))
    names = [
        step.unique_name
        for each in (read, cleaned)
        for step in each.value.args[0].components.transforms.values()
    ]
    for wanted in (*(source.name for source in recipe.sources), "near_duplicates", "decontaminate"):
        assert any(wanted in name for name in names), wanted
