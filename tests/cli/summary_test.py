"""Summaries of runs that adapt a model, and their lines in the list of runs."""

import io
import json
import pathlib
import types

import pytest
from rich.console import Console

from firth.cli.summary import data_lines, print_task_summary
from firth.recipes import TaskEvaluation, Threshold, recipe_to_yaml
from firth.recipes.reading.adapting import load_adapting_recipe
from tests.recipes.bundles import write_bundle
from tests.reports.task_pages.records import film_record

SHARE = {"source": "mnli", "available": 60, "planned": 0.75, "amount": 30}
MIXED = {"LabelledExampleGen": [SHARE], "TaskRowGen": []}


def test_records_that_a_row_has_no_place_for_are_counted_too(tmp_path):
    folders = {}
    reports = {
        "LabelledExampleGen": {
            "train": {"kept": 40, "rejected": {"empty_text": 2}},
            "eval": {"kept": 9, "rejected": {}},
        },
        "TaskRowGen": {
            "train": {
                **{"read": 40, "records": 37, "records_cut": 5, "tokens_cut": 60, "tokens": 1940},
                "rejected": {"no_tokens": 3},
            },
            "eval": {"read": 9, "records": 31, "records_cut": 0, "rejected": {}},
        },
    }
    for name, splits in reports.items():
        folders[name] = {"examples": tmp_path / name}
        (tmp_path / name).mkdir()
        (tmp_path / name / "report.json").write_text(json.dumps({"splits": splits, "mixture": MIXED[name]}))
    (tmp_path / "skew.json").write_text(json.dumps([{"said": f"of label {n}"} for n in range(5)]))
    folders["TaskDataValidator"] = {"found": tmp_path}
    assert data_lines(types.SimpleNamespace(outputs=folders)) == [
        "train: 37 records, 5 rejected (empty_text 2, no_tokens 3), 5 cut to fit, by 60 of 2,000 tokens",
        "eval: 9 records in 31 windows",
        "mixture: mnli 0.750, 30 times of 60 records",
        *(f"the splits differ: of label {number}" for number in range(3)),
        "and 2 more differences",
    ]


@pytest.mark.parametrize(
    ("evaluation", "said"),
    [
        ({}, "accuracy 0.750 [0.500, 0.875] is above 0.500 of the constant answer"),
        ({"beats_constant": False}, "compared with nothing (evaluation.beats_constant: false)"),
        (
            {"thresholds": (Threshold(metric="accuracy", lower_bound=0.5),)},
            "its scores kept their thresholds",
        ),
    ],
)
def test_a_blessing_says_what_was_compared(evaluation, said, tmp_path):
    printed = outcome(evaluation, tmp_path, blessed=True)
    assert f"blessed: {said}" in printed.replace("its scores are finite numbers, ", "")
    assert "kept: " not in printed


def test_a_model_that_is_not_pushed_is_kept_and_named(tmp_path):
    printed = outcome({}, tmp_path, blessed=False, pushed=None, reasons=("it is worse",))
    assert f"not blessed: it is worse pushed: nothing kept: {tmp_path}/bundle" in printed


def outcome(evaluation, folder, **values):
    """The printed end of a run of film reviews."""
    record = film_record()
    recipe = record.recipe.model_copy(update={"evaluation": TaskEvaluation(**evaluation)})
    above = {
        f"accuracy{key}{end}": 0.25
        for key in ("_above_constant", "_right_above_constant")
        for end in ("", "_low", "_high")
    }
    metrics = {
        "overall": {**record.evaluation["overall"], "accuracy_beats_constant": 1.0},
        'constant="good"': {"accuracy": 0.5, "accuracy_records_compared": 8.0, **above},
    }
    made = {"pushed": folder, "served": None, "bundle": folder / "bundle", "reasons": (), "start": None}
    result = types.SimpleNamespace(
        outputs={},
        evaluation=metrics,
        contamination={},
        run_dir=folder,
        new_schema=None,
        **{**made, **values},
    )
    console = Console(width=1000, file=io.StringIO())
    print_task_summary(console, result, recipe, folder)
    return " ".join(console.file.getvalue().split())


def test_the_headline_of_a_task_stands_in_the_list_of_runs(firth, make_run, tmp_path):
    write_bundle(tmp_path / "base" / "bundle")
    options = [
        "base=base/bundle",
        "data={kind: columns, train: a.csv}",
        "task={kind: classification, scores: [f1, accuracy]}",
    ]
    recipe = load_adapting_recipe(None, options)
    metrics = {f"{name}{end}": 0.5 for name in ("accuracy", "f1") for end in ("", "_low", "_high")}
    folder = make_run("films", summary={"blessed": True, "evaluation": {"overall": {**metrics, "f1": 0.75}}})
    (folder / "recipe.yaml").write_text(recipe_to_yaml(recipe))
    (folder / "run.json").touch()
    other = make_run("others", summary={"blessed": True, "evaluation": {"overall": {"f1": 0.625}}})
    (other / "recipe.yaml").write_text(recipe_to_yaml(load_adapting_recipe(None, [*options, "epochs=9"])))
    (other / "run.json").touch()
    page = pathlib.Path(firth("compare", "films", "others").stdout.strip()).read_text()
    assert "0.75" in page and "0.625" in page and "epochs" in page
    make_run("broken", summary={"blessed": True, "evaluation": {"overall": metrics}})
    (tmp_path / "firth-runs" / "broken" / "recipe.yaml").write_text("name: [")
    lines = {line.split()[0]: " ".join(line.split()) for line in firth("runs").output.splitlines()}
    assert lines["films"] == "films blessed - - f1 0.750 - yes"
    assert lines["broken"].endswith("- - - - yes")
