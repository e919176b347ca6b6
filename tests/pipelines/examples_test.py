"""The recipes in examples/, as they are."""

import json
import pathlib

import pytest
from apache_beam.options.pipeline_options import PipelineOptions
from typer.testing import CliRunner

from firth.cli.main import app
from firth.corpus import ReadSources, curate
from firth.corpus.curation.cleaned_files import first_steps
from firth.corpus.io.records import write_records
from firth.recipes import load_recipe
from firth.recipes.corpus.cleaning import step_names
from tests.corpus.helpers import document
from tests.pipelines.made_up_data import write_made_up_data
from tests.pipelines.pipelines_beam_options_test import OPTIONS, NotRun, Translated, no_bucket  # noqa: F401
from tests.shared_data import SHARED_DATA

EXAMPLES = sorted((pathlib.Path(__file__).parents[2] / "examples").glob("*.yaml"))
MANY_SOURCES = next(path for path in EXAMPLES if path.stem == "many_sources")
# A part of each source: enough to go every way.
FEWER = {
    "books": "paths=[gutenberg_books/11_*.txt]",
    "wikipedia": "paths=[wiki_extract/wiki_00]",
    "wikitext": "paths=[wikitext2/wiki.valid.raw]",
    "c4": "paths=[c4/c4-sample.*.json]",
    "crawl": "paths=[commoncrawl/sample-*.warc.gz]",
    "pages": "paths=[web_html/html/a*]",
    "docstrings": "packages=[yaml]",
}


def test_many_sources_holds_what_the_documentation_says_of_it():
    recipe = load_recipe(str(MANY_SOURCES))
    assert (len(recipe.sources), len({source.kind for source in recipe.sources})) == (13, 7)
    steps = {step.kind: step for step in recipe.cleaning.steps}
    assert (len(recipe.cleaning.steps), len(steps["decontaminate"].benchmarks)) == (12, 12)
    assert load_recipe(str(MANY_SOURCES)).name == "many_sources"


def test_every_recipe_of_the_examples_is_tested():
    assert EXAMPLES == [MANY_SOURCES]


DATA = ("gutenberg_books", "web_html/html", "commoncrawl", "glue", "xsum", "multi30k_en_de")


@pytest.mark.repeated
@pytest.mark.needs_data(*DATA, twin="test_many_sources_are_translated_for_the_runner_unchanged")
def test_many_sources_go_through_with_one_command(tmp_path, monkeypatch):
    monkeypatch.chdir(SHARED_DATA)
    recipe = load_recipe(str(MANY_SOURCES))
    places = {source.name: place for place, source in enumerate(recipe.sources)}
    fewer = [f"sources.{places[name]}.{value}" for name, value in FEWER.items()]
    overrides = [word for each in fewer for word in ("--set", each)]
    result = CliRunner().invoke(app, ["curate", str(MANY_SOURCES), "--root", str(tmp_path), *overrides])
    assert result.exit_code == 0, result.output[-3000:]
    (found,) = tmp_path.glob("*/pipeline/Curator/report/*/corpus_report.json")
    rows = {(row["step"], row["source"]): row for row in json.loads(found.read_text())["funnel"]}
    assert {source for _, source in rows} == set(places)
    assert all(rows["read", name]["documents_in"] > 0 for name in places)
    for row in rows.values():
        lost = sum(each["documents"] for fate in ("dropped", "rejected") for each in row[fate].values())
        assert row["documents_in"] == row["documents_kept"] + lost
    page = (tmp_path / "many_sources" / "corpus_report.html").read_text()
    (benchmarks,) = [step.benchmarks for step in recipe.cleaning.steps if step.kind == "decontaminate"]
    for name in [*places, *(each.name for each in benchmarks)]:
        assert f">{name}<" in page, name


@pytest.mark.parametrize(
    "runner", ["Dataflow", *(pytest.param(each, marks=pytest.mark.repeated) for each in ("Flink", "Spark"))]
)
@pytest.mark.usefixtures("no_bucket")
def test_many_sources_are_translated_for_the_runner_unchanged(runner, tmp_path, monkeypatch):
    write_made_up_data(tmp_path)
    monkeypatch.chdir(tmp_path)
    recipe = load_recipe(str(MANY_SOURCES))

    def make_pipeline():
        return NotRun(options=PipelineOptions(OPTIONS[runner]))

    with pytest.raises(Translated) as read, make_pipeline() as pipeline:
        _ = pipeline | ReadSources(recipe.sources, str(tmp_path))
    write_records(f"{tmp_path}/in", 0, 1, [document("Call me Ishmael.").to_example()])
    splits = {"train": f"{tmp_path}/train", "eval": f"{tmp_path}/eval"}
    with pytest.raises(Translated) as cleaned:
        curate(make_pipeline, str(tmp_path), f"{tmp_path}/in/*", recipe.cleaning, splits, str(tmp_path))
    translated = cleaned.value.args[0].components.transforms.values()
    names = "\n".join(transform.unique_name for transform in translated)
    assert len(read.value.args[0].components.transforms) > 5
    done = len(first_steps(recipe.cleaning).steps)
    later = step_names(recipe.cleaning.steps)[done:]
    assert done and "Files/Clean" in names
    assert later and all(f"{step}.Count" in names for step in later)
