import hashlib
import json
import os

import pytest

from firth.recipes import load_recipe, preset_names
from tests.cli.conftest import METRICS

BLESSED = {"blessed": True, "evaluation": {"overall": METRICS}}
COMMANDS = ("run", "curate", "recipes", "show", "compile", "runs", "report", "compare", "predict", "import")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_help_has_examples(firth, command):
    result = firth(command, "--help")
    assert result.exit_code == 0
    assert f"firth {command} " in result.output.split("Examples:")[1]


def test_a_mistyped_command_gets_the_nearest(firth):
    result = firth("predikt")
    assert result.exit_code == 2 and "predict" in result.output


def test_recipes_lists_every_preset_on_a_line_of_a_hundred_columns(firth, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    lines = [line.rstrip() for line in firth("recipes").output.splitlines()]
    listed = [line.split() for line in lines[1:] if line]
    assert [words[0] for words in listed] == list(preset_names())
    assert ["bert_base", "109M", "BERT-Base"] in [words[:3] for words in listed]
    assert lines.index("") == next(i for i, line in enumerate(lines) if line.startswith("elmo_")) - 1


def test_an_unknown_recipe_gets_the_presets_of_its_family(firth):
    result = firth("show", "xlnet")
    assert result.exit_code == 2
    assert "did you mean one of: xlnet_tiny, xlnet_base, xlnet_large?" in result.stderr


def test_the_largest_recipe_is_counted_without_building_it(firth):
    result = firth("show", "gpt3_175b")
    assert result.exit_code == 0
    assert result.stdout.startswith("# parameters: 174,604,259,328\n")
    assert "weights 698.4 GB" in result.stdout


@pytest.mark.parametrize(("runs", "key"), [
    ([], "sources"),
    pytest.param(["pretraining"], "sources", marks=pytest.mark.repeated),
    (["adapting"], "task"),
])  # fmt: skip
def test_the_schema_is_json(firth, runs, key):
    assert {"extends", key} <= json.loads(firth("recipes", "--schema", *runs).stdout)["properties"].keys()


@pytest.mark.parametrize("arguments", [("adapting",), ("--schema", "adpating")])
def test_runs_without_a_schema_are_refused(firth, arguments):
    result = firth("recipes", *arguments)
    assert result.exit_code == 2 and arguments[-1] in result.stderr and result.stdout == ""


def test_what_show_prints_is_the_recipe_again(firth, tmp_path):
    result = firth("show", "bert_mini", "--set", "training.steps=5000")
    assert result.exit_code == 0 and result.stderr == ""
    (tmp_path / "again.yaml").write_text(result.stdout)
    assert load_recipe(tmp_path / "again.yaml") == load_recipe("bert_mini", ["training.steps=5000"])
    assert result.stdout.startswith("# ")


def test_show_notes_what_is_seldom_meant(firth):
    result = firth("show", "bert_mini", "--set", "training.steps=500")
    assert result.exit_code == 0
    assert "note: training.optimizer.warmup_steps: 1,000 is not below training.steps: 500" in result.stderr


def test_show_lists_every_problem(firth):
    result = firth("show", "bert_mini", "--set", "training.stepz=5", "--set", "model.layers=three")
    assert result.exit_code == 2 and result.stdout == ""
    assert "--set training.stepz=5: training.stepz: unknown key; did you mean steps?" in result.stderr
    assert "--set model.layers=three: model.layers: must be a valid integer" in result.stderr


def test_runs_are_listed_with_their_evaluation(firth, make_run):
    assert "no runs in firth-runs" in firth("runs").output
    make_run("good", summary=BLESSED, timings={"Trainer": {"state": "finished", "seconds": 75.0}})
    make_run("bad", timings={"Trainer": {"state": "failed", "seconds": 1.0}}, report=False)
    make_run("new", report=False)
    (make_run("corpus", report=False) / "corpus_report.html").write_text("<!DOCTYPE html>")
    lines = {line.split()[0]: " ".join(line.split()) for line in firth("runs").output.splitlines()}
    assert lines["good"] == "good blessed 120.5 840.2 - 1 min 15 s yes"
    assert lines["bad"] == "bad failed in Trainer - - - 1.0 s -"
    assert lines["new"] == "new unfinished - - - - -"
    assert lines["corpus"] == "corpus curated - - - - yes"
    assert firth("report", "corpus").stdout == "firth-runs/corpus/corpus_report.html\n"


@pytest.mark.parametrize("files", [(1, 2, 3), (3, 2, 1), (2, 2, 2)])
def test_runs_are_in_the_order_that_they_record_whatever_the_times_of_their_files(firth, make_run, files):
    """A copy of a folder has new times."""
    ended = {"Trainer": {"state": "finished", "seconds": 1.0, "ended": "2026-03-01T10:00:00.500000+00:00"}}
    made = [
        make_run("oldest", summary={**BLESSED, "finished": "2026-03-01T10:59:59+01:00"}),
        make_run("newest", summary={**BLESSED, "finished": "2026-02-01T09:00:00+00:00"}, timings=ended),
        make_run("middle", summary={**BLESSED, "finished": "2026-03-01T10:00:00+00:00"}, timings={"a": {}}),
    ]
    for folder, when in zip(made, files):
        for path in folder.iterdir():
            os.utime(path, (2e9 + when, 2e9 + when))
    names = [line.split()[0] for line in firth("runs").output.splitlines()[1:]]
    assert names == ["newest", "middle", "oldest"]
    for value in ("yesterday", 3, None):
        (made[0] / "run.json").write_text(json.dumps({**BLESSED, "finished": value}))
    assert firth("runs").output.splitlines()[1].startswith("oldest")


def test_the_name_of_a_run_is_never_cut(firth, make_run, monkeypatch):
    """The next command needs it. A terminal wraps a line that is longer than it."""
    monkeypatch.setenv("COLUMNS", "60")
    name = "a_name_of_ninety_letters_" + "x" * 65
    make_run(name, summary=BLESSED, timings={"Trainer": {"state": "finished", "seconds": 75.0}})
    (line,) = [each for each in firth("runs").output.splitlines() if each.startswith("a_name")]
    assert " ".join(line.split()) == f"{name} blessed 120.5 840.2 - 1 min 15 s yes"


def test_a_run_that_failed_after_it_had_finished_is_a_failed_one(firth, make_run):
    folder = make_run(summary=BLESSED, timings={"Trainer": {"state": "failed", "seconds": 1.0}})
    assert " blessed " in firth("runs").output
    os.utime(folder / "run.json", (0, 0))
    assert "failed in Trainer" in firth("runs").output


@pytest.mark.parametrize("when", [1, 4_000_000_000])
def test_what_a_summary_is_of_does_not_follow_from_the_times_of_files(firth, make_run, when):
    folder = make_run(timings={"Trainer": {"state": "finished", "seconds": 1.0}})
    paths = [folder / name for name in ("recipe.yaml", "timings.json")]
    made_of = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}
    (folder / "run.json").write_text(json.dumps({**BLESSED, "made_of": made_of}))
    os.utime(folder / "run.json", (when, when))
    assert " blessed " in firth("runs").output
    for path in paths:
        before = path.read_bytes()
        path.write_bytes(before + b"\n")
        assert " unfinished " in firth("runs").output
        path.write_bytes(before)


@pytest.mark.parametrize("content", [b"[]", b"3", b'{"Trainer": 3}', b"\xff", b"{"])
def test_a_run_whose_files_hold_something_else_is_listed(firth, make_run, content):
    folder = make_run(report=False)
    (folder / "timings.json").write_bytes(content)
    assert "first unfinished" in " ".join(firth("runs").output.split())
    (folder / "run.json").write_bytes(content if content != b'{"Trainer": 3}' else b"[3]")
    assert "first unfinished" in " ".join(firth("runs").output.split())


def test_runs_are_found_by_root_option_and_variable(firth, make_run, tmp_path, monkeypatch):
    make_run("elsewhere", root=tmp_path / "other", summary=BLESSED)
    assert "elsewhere" in firth("runs", "--root", "other").output
    monkeypatch.setenv("FIRTH_ROOT", "other")
    assert "elsewhere" in firth("runs").output


def test_report_prints_the_path_alone(firth, make_run):
    folder = make_run()
    by_name, by_folder = firth("report", "first"), firth("report", str(folder))
    assert by_name.stdout == "firth-runs/first/report.html\n"
    assert by_folder.stdout == f"{folder}/report.html\n"


def test_a_report_that_is_not_there(firth, make_run):
    make_run(report=False)
    result = firth("report", "first")
    assert result.exit_code == 1 and "has no report yet: unfinished" in result.stderr


def test_a_run_that_is_not_there(firth, make_run):
    result = firth("report", "frist")
    assert result.exit_code == 2 and "make one with firth run" in result.stderr
    make_run()
    result = firth("report", "frist")
    assert result.exit_code == 2 and "did you mean first?" in result.stderr


def test_what_nobody_foresaw_leaves_its_traceback_in_a_file(monkeypatch, capsys):
    from firth.cli import main

    def break_down():
        raise KeyError("surprise")

    monkeypatch.setattr(main, "app", break_down)
    with pytest.raises(SystemExit) as end:
        main.main()
    message = capsys.readouterr().err
    assert end.value.code == 1 and message.startswith("error: unexpected KeyError: 'surprise'")
    log = message.split()[-1].rstrip(".")
    with open(log) as file:
        assert "Traceback" in file.read()
