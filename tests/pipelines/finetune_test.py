"""A model adapted to a task by the command, from a csv to a served classifier."""

import csv
import json
import pathlib
import random

import numpy as np
import pytest
from typer.testing import CliRunner

import firth
from firth.cli.main import app
from firth.models import load_model, save_model
from firth.models.bundle import weights_by_path
from firth.pipelines.lineage import metadata_store
from firth.pipelines.run_metadata import metadata_of
from firth.tokenizers import save_tokenizer
from tests.exported_model import RECIPE, first_signature_alone, make_served

WORDS = ("the", "word", "sat", "on", "mat", "keeps", "company", "you", "shall", "know", ".")
OPTIONS = (
    "--set=training.optimizer.learning_rate=0.02",
    "--set=sequences={length: 32, max_documents: 4}",
    "--set=epochs=8",
    "--set=examples_per_step=16",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a base among its runs, and a csv of texts in two classes: about a cat, and others."""
    folder = tmp_path_factory.mktemp("finetune")
    served = make_served(RECIPE)
    save_tokenizer(served.tokenizer, folder / "tokenizer")
    save_model(served.model, RECIPE, folder / "tokenizer", folder / "firth-runs" / "base" / "bundle")
    chosen = random.Random(5)
    rows = [[" ".join(chosen.choices(WORDS, k=chosen.randint(2, 9))), "other"] for _ in range(160)]
    for row in rows[::2]:
        row[:] = f"{row[0]} cat", "cat"
    write_csv(folder / "texts.csv", [["text", "label"], *rows, ["", "cat"], ["a word", ""]])
    return folder


def write_csv(path, rows):
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows(rows)


def finetune(folder, *more, base="base"):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        return CliRunner().invoke(app, ["finetune", *([base] if base else []), *OPTIONS, *more])


def of_csv(path="texts.csv"):
    return ("--task", "classification", "--train", str(path))


@pytest.fixture(scope="module")
def first(folder):
    with first_signature_alone():
        result = finetune(folder, *of_csv())
    assert result.exit_code == 0, result.output
    return result.output, json.loads((folder / "firth-runs" / "base_classification" / "run.json").read_text())


def test_the_front_door_trains_the_same_weights(first, folder):
    values = {
        "training.optimizer.learning_rate": 0.02,
        "sequences": {"length": 32, "max_documents": 4},
        "examples_per_step": 16,
    }
    base = firth.load(folder / "firth-runs" / "base")
    own = base.finetune(folder / "texts.csv", epochs=8, overrides=values, verbose=False)
    _, summary = first
    for one, other in zip(own.get_weights(), load_model(summary["bundle"]).get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_csv_becomes_a_served_classifier(first, folder):
    said, summary = first
    assert summary["blessed"] and summary["evaluation"]["overall"]["accuracy"] >= 0.8
    assert " of the constant answer " in said and "blessed: accuracy " in said and "kept: " not in said
    assert ", 2 rejected (empty_text 1, no_label 1)" in said and "made fresh: heads/" in said
    (served,) = [line for line in said.splitlines() if line.startswith("as served: accuracy: ")]
    assert " by classify, " in served and " by rows, " in served
    assert "  firth predict base_classification classify 'A sentence.'" in said.splitlines()
    page = (folder / "firth-runs" / "base_classification" / "report.html").read_text()
    assert "Held-out accuracy" in page and "texts.csv" in page and "not recorded" not in page
    assert page.index("held-out records: ") < page.index("a row for each right class")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        texts = ["the mat cat", "the mat ."]
        asked = CliRunner().invoke(app, ["predict", "base_classification", "classify", *texts, "--json"])
    answers = [json.loads(line) for line in asked.stdout.splitlines()]
    assert [answer["label"] for answer in answers] == ["cat", "other"], asked.output
    assert answers[0]["labels"] == ["cat", "other"] and sum(answers[0]["probabilities"]) == pytest.approx(1)


def test_its_bundle_is_of_the_task_and_names_its_steps(first):
    recipe = load_model(first[1]["bundle"])
    assert recipe.heads.loss_term.classes == 2
    text = pathlib.Path(first[1]["bundle"], "recipe.yaml").read_text()
    assert "labels: [cat, other]" in text.replace("\n  - ", " ") or "- cat" in text


def test_lineage_names_the_base(first, folder):
    store = metadata_store(metadata_of(folder / "firth-runs" / "base_classification"))
    (imported,) = store.get_artifacts_by_uri(str(folder / "firth-runs" / "base" / "bundle"))
    readers = {event.execution_id for event in store.get_events_by_artifact_ids([imported.id])}
    names = {
        store.get_execution_types_by_id([each.type_id])[0].name.rsplit(".", 1)[-1]
        for each in store.get_executions_by_id(readers)
    }
    assert {"TaskRowGen", "Trainer"} <= names


@pytest.mark.repeated
def test_what_has_not_changed_is_cached(first, folder):
    """The head's weights, the training among them: of a changed seed only what depends on it runs anew."""
    result = finetune(
        folder, *of_csv(), "--set=evaluation.thresholds=[{metric: accuracy, lower_bound: 0.9999}]"
    )
    lines = [line.split()[:2] for line in result.output.splitlines()]
    assert ["cached", "TaskRowGen"] in lines and ["cached", "Trainer"] in lines
    assert ["done", "Evaluator"] in lines
    blessed = json.loads((folder / "firth-runs" / "base_classification" / "run.json").read_text())["blessed"]
    assert result.exit_code == (0 if blessed else 3)


@pytest.mark.repeated
def test_a_second_model_is_compared_with_the_first(first, folder):
    result = finetune(folder, *of_csv(), "--set=seed=5")
    assert result.exit_code in (0, 3), result.output
    store = metadata_store(metadata_of(folder / "firth-runs" / "base_classification"))
    (type_id,) = [each.id for each in store.get_execution_types() if each.name.endswith(".Evaluator")]
    last = max(each.id for each in store.get_executions() if each.type_id == type_id)
    read = [event.path.steps[0].key for event in store.get_events_by_execution_ids([last])]
    assert "baseline_model" in read, read


def test_other_data_do_not_go_into_the_folder_of_a_run(first, folder):
    others = [[f"the {word} {label}", label] for word in ("cat", "mat", "word", "man") for label in "ab"]
    write_csv(folder / "others.csv", [["text", "label"], *others])
    result = finetune(folder, *of_csv("others.csv"))
    assert result.exit_code == 2 and "no longer read: " in result.stderr


BOUNDED = "--set=evaluation.thresholds=[{metric: accuracy, lower_bound: 0.8}]"


@pytest.mark.parametrize(("arguments", "problem"), [
    ((*of_csv("absent.csv"),), "absent.csv"),
    ((*of_csv(), "--text", "txt"), "there is no column 'txt' in line 1; did you mean text?"),
    (("--task", "clasification", "--train", "texts.csv"), "did you mean classification?"),
    (("--task", "sst", "--data", "."), "unknown format 'sst'; did you mean sst2?"),
    (("--task", "regression"), "--task: 'regression' needs data; without any there are classification"),
    ((*of_csv("one.csv"),), "a task needs two different ones"),
    ((*of_csv(), "--set", "task.form={kind: gpt}"), "gpt is read by models"),
    ((*of_csv(), "--set", "sequences.length=100000"), "positions for"),
    ((*of_csv(), "--set=task.scores=[acuracy]", BOUNDED), "accuracy is not a metric of task.kind:"),
    ((*of_csv(), "--set=task.scores=[acuracy]"), "unknown score 'acuracy'; did you mean accuracy?"),
    ((*of_csv(), "--method", "haed"), "--method haed: method: kind: unknown kind 'haed'; did you mean head?"),
    ((*of_csv(), "--set", "training.steps=5"), "training.steps: follows from epochs"),
])  # fmt: skip
def test_what_is_wrong_is_said_before_anything_runs(folder, arguments, problem):
    write_csv(folder / "one.csv", [["text", "label"], ["the cat", "a"], ["the word", "a"]])
    result = finetune(folder, *arguments, "--name", "wrong")
    assert result.exit_code == 2 and problem in result.stderr, result.output
    assert not (folder / "firth-runs" / "wrong").exists()


def test_a_base_is_found_by_its_nearest_name(folder):
    result = finetune(folder, *of_csv(), base="bse")
    assert result.exit_code == 2 and "did you mean base?" in result.stderr
    result = finetune(folder, *of_csv(), base=None)
    assert result.exit_code == 2 and "give a BASE and a --task, or a --recipe" in result.stderr


@pytest.mark.repeated
def test_two_texts_get_a_number(folder):
    chosen = random.Random(6)
    rows = [[chosen.choice(WORDS), chosen.choice(WORDS), chosen.randint(0, 5)] for _ in range(60)]
    write_csv(folder / "pairs.csv", [["a", "b", "how"], *rows])
    columns = ("--text", "a", "--pair", "b", "--label", "how")
    result = finetune(folder, "--task", "regression", "--train", "pairs.csv", *columns, "--set", "epochs=1")
    summary = json.loads((folder / "firth-runs" / "base_regression" / "run.json").read_text())
    assert result.exit_code in (0, 3), result.output
    assert {"pearson", "spearman"} <= summary["evaluation"]["overall"].keys()
    assert np.isfinite(summary["evaluation"]["overall"]["value_squared_error"])
    moved = weights_by_path(load_model(summary["bundle"]))
    base = weights_by_path(load_model(folder / "firth-runs" / "base" / "bundle"))
    assert any(float(abs(moved[name] - base[name]).numpy().max()) > 0 for name in moved.keys() & base.keys())


@pytest.mark.repeated
def test_pairs_of_texts_make_a_sentence_encoder(folder):
    """Two texts belong together if they are of the same words, in another order."""
    rows = [[f"{one} {one} {two}", f"{two} {one} {one}"] for one in WORDS for two in WORDS if one != two]
    write_csv(folder / "belong.csv", [["a", "b"], *rows])
    columns = ("--train", "belong.csv", "--text", "a", "--pair", "b")
    result = finetune(folder, "--task", "embedding", *columns)
    assert result.exit_code == 0, result.output
    assert "held-out retrieval_accuracy: " in result.output
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        asked = CliRunner().invoke(app, ["predict", "base_embedding", "embed", "the mat", "--json"])
    assert len(json.loads(asked.stdout)["embedding"]) == RECIPE.model.width, asked.output


@pytest.mark.repeated
def test_choices_are_learned_from_a_csv_and_asked_by_text_and_by_file(folder):
    """The right choice ends with a cat after two other words."""
    chosen = random.Random(7)
    rows = []
    for number in range(120):
        choices = [" ".join(chosen.choices(WORDS, k=2)) for _ in range(3)]
        choices[number % 3] += " cat"
        rows.append([chosen.choice(WORDS), *choices, number % 3])
    write_csv(folder / "choices.csv", [["start", "a", "b", "c", "right"], *rows, ["the", "a", "b", "c", 3]])
    columns = ("--text", "start", "--choice", "a", "--choice", "b", "--choice", "c", "--label", "right")
    result = finetune(folder, "--task", "choice", "--train", "choices.csv", *columns)
    assert result.exit_code == 0 and ", 1 rejected" in result.output, result.output
    summary = json.loads((folder / "firth-runs" / "base_choice" / "run.json").read_text())
    assert summary["evaluation"]["overall"]["accuracy"] >= 0.8
    assert "choose 'The man broke his toe.' --choices 'He dropped a hammer on it. | " in result.output
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        asked = ("predict", "base_choice", "choose")
        choices = ("--choices", "you know | the mat cat", "--choices", "on you cat | mat on")
        told = CliRunner().invoke(app, [*asked, "the", "on", *choices, "--json"])
        of_file = CliRunner().invoke(app, [*asked, "--input", "choices.csv", "--output", "answers.jsonl"])
    answers = [json.loads(line) for line in told.stdout.splitlines()]
    found = [(each["place"], each["choice"]) for each in answers]
    assert found == [(1, "the mat cat"), (0, "on you cat")], told.output
    assert [len(each["probabilities"]) for each in answers] == [2, 2]
    assert of_file.exit_code == 0, of_file.output
    lines = [json.loads(line) for line in (folder / "answers.jsonl").read_text().splitlines()]
    assert len(lines) == 121 and np.mean([line["place"] == row[-1] for line, row in zip(lines, rows)]) >= 0.8
