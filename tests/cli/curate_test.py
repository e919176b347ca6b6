"""`firth curate` with a runner that gives prepared answers; the real one has tests of its own."""

import dataclasses
import json
import pathlib

import pytest

from firth.pipelines import local
from tests.reports.records import corpus_report


@pytest.fixture
def runner(monkeypatch, tmp_path):
    """Replaces `local.curate`: records its calls, and returns a result or raises an error of the test."""
    folder = tmp_path / "report"
    folder.mkdir()
    (folder / "corpus_report.json").write_text(json.dumps(corpus_report()))

    class Runner:
        error = None
        result = local.CurationResult(
            run_dir=tmp_path / "firth-runs" / "demo",
            components=(),
            outputs={"Curator": {"report": folder, "examples": pathlib.Path("pipeline/Curator/examples/7")}},
            log_path=tmp_path / "x.log",
            new_schema=tmp_path / "firth-runs" / "demo" / "schema.pbtxt",
        )

        def __call__(self, recipe, root, options):
            self.calls.append((recipe, {"root": root, **vars(options)}))
            if self.error is not None:
                raise self.error
            return self.result

    runner = Runner()
    runner.calls = []
    monkeypatch.setattr(local, "curate", runner)
    return runner


def test_the_funnel_and_where_things_are(firth, runner, monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")
    result = firth("curate", "demo")
    assert result.exit_code == 0, result.output
    lines = [" ".join(line.split()) for line in result.output.splitlines()]
    table = lines[lines.index("step in kept lost share bytes kept") :][1:5]
    assert table == [
        "read 15 14 1 6.67 % 140 B",
        "rejected: too_long 1 6.67 %",
        "length 14 11 3 21.43 % 110 B",
        "dropped: too_few_words 3 21.43 %",
    ]
    assert "corpus: 15 documents read, 11 kept, 3 dropped (too_few_words 3), 1 rejected (too_long 1)" in lines
    assert any("eval_fraction is 0.05, but no document is held out" in line for line in lines)
    assert "documents: pipeline/Curator/examples/7" in lines
    assert f"report: {runner.result.run_dir}/corpus_report.html" in lines
    assert "firth report demo --open" in lines
    assert f"source_schema: {runner.result.new_schema}" in lines


def test_where_the_corpus_is_in_other_formats(firth, runner, tmp_path):
    size = {"files": 1, "documents": 600, "bytes": 70_000}
    (tmp_path / "outputs.json").write_text(json.dumps({"jsonl": {"train": size, "eval": size}}))
    outputs = {**runner.result.outputs, "CorpusExporter": {"corpus": tmp_path}}
    runner.result = dataclasses.replace(runner.result, outputs=outputs)
    result = firth("curate", "demo")
    assert f"jsonl: {tmp_path}/jsonl (1,200 documents in 2 files, 140,000 bytes)" in result.output


def test_a_recipe_of_sources_and_cleaning_is_enough(firth, runner, tmp_path):
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("Call me Ishmael.")
    text = "sources: [{kind: text, paths: [a.txt, b.txt]}]\ncleaning: {steps: [{kind: normalize}]}\n"
    (tmp_path / "mine.yaml").write_text(text)
    options = ["--root", "r", "--name", "n", "--set", "cleaning.limits.max_dropped_fraction=0.6"]
    beam = ["--beam-arg=--runner=FlinkRunner", "--beam-arg=--parallelism=4"]
    result = firth("curate", "mine.yaml", *options, *beam)
    assert result.exit_code == 0, result.output
    ((recipe, called),) = runner.calls
    assert recipe.cleaning.limits.max_dropped_fraction == 0.6
    assert [step.kind for step in recipe.cleaning.steps] == ["normalize"]
    assert (called["root"], called["name"]) == (pathlib.Path("r"), "n")
    assert called["beam_pipeline_args"] == ("--runner=FlinkRunner", "--parallelism=4")
    assert "firth report demo --root r --open" in result.output


def test_ones_own_files_take_the_place_of_the_sources(firth, runner, tmp_path):
    (tmp_path / "a.jsonl").write_text("{}")
    result = firth("curate", "demo", "--jsonl", "*.jsonl", "--text-key", "body")
    assert result.exit_code == 0, result.output
    (source,) = runner.calls[0][0].sources
    assert (source.paths, source.text_key) == ((f"{tmp_path}/*.jsonl",), "body")


def test_a_corpus_that_breaks_its_limits_names_them_and_the_page(firth, runner):
    from firth.corpus import CorpusLimitsError

    broken = "cleaning.limits.max_dropped_fraction is 0.6, but 0.75 of the documents were dropped"
    page = pathlib.Path("firth-runs/demo/corpus_report.html")
    runner.error = local.RunFailedError("CorpusValidator", broken, pathlib.Path("x.log"), page)
    runner.error.__cause__ = CorpusLimitsError(broken)
    result = firth("curate", "demo")
    assert result.exit_code == 2
    assert result.stderr == (
        f"error: CorpusValidator failed: {broken}\nThe page on the corpus is {page}.\nThe log is x.log.\n"
    )


def test_what_is_no_option_of_beam_is_refused(firth, runner):
    result = firth("curate", "demo", "--beam-arg", "FlinkRunner")
    assert result.exit_code == 2 and runner.calls == []
    assert "--beam-arg FlinkRunner: write it as --beam-arg=--runner=FlinkRunner" in result.stderr
    result = firth("curate", "demo", "--beam-arg=--direct_num_workers=two")
    assert result.exit_code == 2 and runner.calls == []
    assert "--beam-arg: argument --direct_num_workers: invalid int value: 'two'" in result.stderr


def test_an_option_that_beam_knows_by_nearly_the_same_name_is_told(firth, runner, tmp_path):
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("Call me Ishmael.")
    result = firth("curate", "demo", "--text", "*.txt", "--beam-arg=--runer=FlinkRunner")
    assert result.exit_code == 0 and len(runner.calls) == 1
    assert "note: --beam-arg=--runer: Beam does not know it" in result.stderr
    assert "did you mean --runner?" in result.stderr


def test_workers_are_processes_of_beam(firth, runner, tmp_path):
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("Call me Ishmael.")
    assert firth("curate", "demo", "--text", "*.txt", "--workers", "2").exit_code == 0
    assert firth("curate", "demo", "--text", "*.txt").exit_code == 0
    two, one = (called["beam_pipeline_args"] for _, called in runner.calls)
    assert two == ("--direct_running_mode=multi_processing", "--direct_num_workers=2")
    assert one == ()
    result = firth("curate", "demo", "--workers", "2", "--beam-arg=--runner=FlinkRunner")
    assert result.exit_code == 2 and "give --beam-arg alone" in result.stderr
    assert firth("curate", "demo", "--workers", "0").exit_code == 2


def test_the_database_of_a_recipe_is_asked_unless_the_command_names_one(firth, tmp_path):
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("Call me Ishmael.")
    of_recipe, of_command = "postgresql://me@127.0.0.1:1/runs", "mysql://me@127.0.0.1:1/runs"
    given = ("curate", "demo", "--text", "*.txt", f"--set=metadata={of_recipe}")
    result = firth(*given)
    assert result.exit_code == 2 and f"metadata: {of_recipe} does not answer: " in result.stderr
    result = firth(*given, "--metadata", of_command)
    assert result.exit_code == 2 and f"metadata: {of_command} does not answer: " in result.stderr


def test_files_that_the_shell_expanded_and_unknown_recipes_are_refused(firth, runner):
    assert "quote patterns" in firth("curate", "demo", "--text", "a.txt", "b.txt").stderr
    result = firth("curate", "demmo")
    assert result.exit_code == 2 and "did you mean demo?" in result.stderr and runner.calls == []


def test_measuring_alone_is_a_key_of_the_recipe(firth, runner):
    result = firth("curate", "demo", "--measure-only", "--name", "measured")
    assert result.exit_code == 0, result.output
    ((recipe, options),) = runner.calls
    assert recipe.cleaning.measure == "only" and options["name"] == "measured"
