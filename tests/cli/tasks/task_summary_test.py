"""What is printed, and listed, of runs that adapt a model."""

import json
import pathlib
import types

from firth.cli.tasks.task_summary import data_lines
from firth.recipes import recipe_to_yaml
from firth.recipes.reading.adapting import load_adapting_recipe
from tests.recipes.bundles import write_bundle

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
