"""GLUE with one model: what is found, what is asked, and what is written."""

import json
import random

import pytest
from typer.testing import CliRunner

from firth.cli.main import app
from firth.models import save_model
from firth.pipelines.glue import find_tasks, scores_of, write_results
from firth.recipes.tasks.classification import Classification
from firth.tokenizers import save_tokenizer
from tests.exported_model import make_served
from tests.pipelines.finetune_test import OPTIONS, RECIPE, WORDS

RECORDS = {"train": 40, "dev": 12, "test": 146}
HEADER = "index\tsentence1\tsentence2"


def write_wnli(folder):
    """Writes a folder of GLUE with WNLI alone: whether both texts have the same first word."""
    chosen, home = random.Random(3), folder / "WNLI"
    home.mkdir(parents=True)
    for split, count in RECORDS.items():
        lines = [HEADER + ("" if split == "test" else "\tlabel")]
        for index in range(count):
            pair = [" ".join(chosen.choices(WORDS, k=4)) for _ in range(2)]
            label = "" if split == "test" else f"\t{int(pair[0][0] == pair[1][0])}"
            lines.append(f"{index}\t{pair[0]}\t{pair[1]}{label}")
        (home / f"{split}.tsv").write_text("\n".join(lines) + "\n")
    return folder


def test_tasks_are_those_with_files_to_train_on_and_to_score(tmp_path):
    folder = write_wnli(tmp_path / "glue")
    (folder / "RTE").mkdir()
    (folder / "RTE" / "train.tsv").write_text("")
    found = find_tasks(str(folder))
    assert found.present == ("wnli",) and "there is no dev.tsv of GLUE RTE" in found.missing["rte"]
    assert "ax" not in found.missing and set(found.missing) >= {"cola", "mnli", "qqp"}
    assert find_tasks(str(folder), ["wnli"]).missing == {}
    with pytest.raises(ValueError, match=r"'rta' .*GLUE; .*rte"):
        find_tasks(str(folder), ["rta"])
    with pytest.raises(ValueError, match=r"no task .*GLUE"):
        find_tasks(str(folder), ["rte"])
    with pytest.raises(ValueError, match="no such folder"):
        find_tasks(f"{folder}x")


def test_scores_and_submission_files_are_written_apart(tmp_path):
    task = Classification(labels=("0", "1"), pair=True)
    scores = scores_of("wnli", task, {"accuracy": 0.5, "accuracy_low": 0.25, "loss": 1.0})
    predictions = {"WNLI.tsv": {str(id): "1" for id in range(146)}}
    left_out = {"rte": "not there"}
    lacking = write_results(str(tmp_path), scores, {"wnli": "runs/a"}, left_out, predictions, {})
    assert "RTE.tsv" in lacking and "WNLI.tsv" not in lacking
    assert json.loads((tmp_path / "glue.json").read_text()) == {
        "dev": {"wnli.accuracy": 0.5},
        "runs": {"wnli": "runs/a"},
        "missing": {"rte": "not there"},
    }
    clean = {"wnli.accuracy": 0.4}
    write_results(str(tmp_path), scores, {}, {}, {}, clean)
    assert json.loads((tmp_path / "glue.json").read_text())["clean"] == clean
    assert (tmp_path / "submission" / "WNLI.tsv").read_text().splitlines()[-1] == "145\t1"


@pytest.mark.repeated
def test_glue_in_one_command(tmp_path, monkeypatch):
    served = make_served(RECIPE)
    save_tokenizer(served.tokenizer, tmp_path / "tokenizer")
    save_model(served.model, RECIPE, tmp_path / "tokenizer", tmp_path / "firth-runs" / "base" / "bundle")
    write_wnli(tmp_path / "glue")
    with (tmp_path / "glue" / "WNLI" / "train.tsv").open("a") as file:
        file.write("40\tone text alone\n")
    monkeypatch.chdir(tmp_path)
    arguments = ["glue", "base", "--data", "glue", *OPTIONS, "--set", "evaluation.beats_constant=false"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    made = json.loads((tmp_path / "firth-runs" / "base_glue" / "glue.json").read_text())
    assert set(made["dev"]) == {"wnli.accuracy"} and 0.0 <= made["dev"]["wnli.accuracy"] <= 1.0
    submission = (tmp_path / "firth-runs" / "base_glue" / "submission" / "WNLI.tsv").read_text()
    assert len(submission.splitlines()) == 147
    assert "wnli:\ntrain: 40 records of train.tsv, 1 rejected (wrong_columns 1)" in result.output
    assert "average as of the leaderboard: " in result.output and "without cola.matthews" in result.output
    assert "GLUE's site needs AX.tsv" in result.output
