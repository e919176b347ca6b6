"""Heads of fine-tuned models in Hugging Face's format come in with their task, and go out again."""

import json

import keras
import numpy as np
import pytest

import firth
from firth.interop.errors import InteropError
from firth.interop.hugging_face import export_model, import_model
from firth.models import load_model
from firth.models.bundle import read_recipe
from firth.storage.tensor_files import TensorFile
from tests.interop.hugging_face.checkpoints import checkpoint, tensors_of
from tests.models import references
from tests.models.task_features import features_for
from tests.repeating import often
from tests.training.eagerly import eagerly

# Golden files of transformers' classes, each with the kind of the task.
TUNED = {
    "bert_classes": "classification",
    "bert_numbers": "regression",
    "bert_tags": "tagging",
    "bert_spans": "span",
    "bert_choices": "choice",
    "roberta_classes": "classification",
    "albert_classes": "classification",
    "xlnet_classes": "classification",
    "bart_classes": "classification",
    "llama_classes": "classification",
    "distilbert_tags": "tagging",
    "deberta_tags": "tagging",
    "electra_spans": "span",
}
OTHERS = {"deberta": "deberta-v2"}
# Tasks and families that differ in kind.
FEW = (
    "bert_numbers",
    "bert_tags",
    "bert_spans",
    "bert_choices",
    "xlnet_classes",
    "bart_classes",
    "llama_classes",
)
# The configuration and the tensors of each go out as they came in, so that one of a kind comes in again.
FIRST_OF_KIND = {TUNED[name]: name for name in reversed(FEW)}.values()
LABELS = {"0": "bad", "1": "so so", "2": "good"}
WIDTH = 16


def folder_of(home, name, changed=(), **config):
    """A golden file as the folder of a fine-tuned model."""
    home.mkdir(parents=True, exist_ok=True)
    family = name.partition("_")[0]
    made = references.made_with(name)["model"]
    settings = {"model_type": OTHERS.get(family, family), "architectures": [made], **config}
    return checkpoint(home, changed, name, **settings)


def has_classes(name):
    return TUNED[name] in ("classification", "tagging")


@pytest.fixture(scope="module", params=often(TUNED, FEW))
def brought(request, tmp_path_factory):
    """The name of a golden file, its folder of a bundle and of an export, and the reports of both ways."""
    home, name = tmp_path_factory.mktemp(request.param), request.param
    config = {"id2label": LABELS} if has_classes(name) else {}
    read = import_model(folder_of(home / "in", name, **config), home / "bundle", name)
    return name, home, read, export_model(home / "bundle", home / "out")


def test_logits_are_those_of_transformers(brought):
    name, home, read, _ = brought
    assert read.fresh == read.surplus == () and not [note for note in read.notes if "left out" in note]
    task = read_recipe(home / "bundle").task
    assert task.kind == TUNED[name] and getattr(task, "labels", ()) == (
        tuple(LABELS.values()) if has_classes(name) else ()
    )
    given = references.read_golden(name)
    found = load_model(home / "bundle", dtype="float32").logits(features_for(given, task))
    found = {key: keras.ops.convert_to_numpy(each) for key, each in found.items()}
    real = given["input/attention_mask"] > 0
    if "start" in found:
        for key, each in found.items():
            close(each[:, 0][real], given[f"logits/{key}"][real])
    else:
        (made,) = found.values()
        per_token = task.heads == "tokens"
        close(
            made[real] if per_token else made[:, 0], given["logits"][real] if per_token else given["logits"]
        )


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)


def test_tensors_come_out_as_they_came_in(brought):
    name, home, _, written = brought
    file, tensors = TensorFile(home / "out" / "model.safetensors"), tensors_of(name)
    assert not [note for note in written.notes if "left out" in note]
    assert {*file} == {*tensors}
    for key, tensor in tensors.items():
        rows = min(len(tensor), len(file[key]))
        np.testing.assert_array_equal(file[key][-rows:], tensor[-rows:], err_msg=key)
    config = json.loads((home / "out" / "config.json").read_text())
    assert config["architectures"] == [references.made_with(name)["model"]]
    is_number = TUNED[name] == "regression"
    # Its default in transformers is two classes.
    assert config.get("id2label") == (
        LABELS if has_classes(name) else {"0": "LABEL_0"} if is_number else None
    )
    assert config.get("problem_type") == ("regression" if is_number else None)
    if name not in FIRST_OF_KIND:
        return
    again = import_model(home / "out", home / f"again_{name}", name)
    assert again.fresh == again.surplus == ()
    first, second = (read_recipe(home / each).task for each in ("bundle", f"again_{name}"))
    assert first == second


def test_a_folder_of_a_classifier_answers(tmp_path):
    model = firth.load(folder_of(tmp_path, "bert_classes", id2label=LABELS))
    with eagerly():
        (answer,) = model.predict(["The cats sat"])
    assert answer["labels"] == [*LABELS.values()] and sum(answer["probabilities"]) == pytest.approx(1.0)


RELU = {
    "pre_classifier.weight": np.ones((WIDTH, WIDTH), "float32"),
    "classifier.weight": np.ones((3, WIDTH), "float32"),
}
LEFT_OUT = {
    "another activation": (
        "distilbert",
        {**RELU, "architectures": ["DistilBertForSequenceClassification"]},
        "has relu between the two layers",
    ),
    "several classes at once": (
        "bert_classes",
        {"problem_type": "multi_label_classification"},
        "has problem_type: 'multi_label_classification'",
    ),
    "several numbers": ("bert_classes", {"problem_type": "regression"}, "has problem_type: 'regression'"),
    "one class": (
        "bert_numbers",
        {"problem_type": "single_label_classification"},
        "has problem_type: 'single_label_classification'",
    ),
    "another summary": ("xlnet_classes", {"summary_type": "mean"}, "has summary_type: 'mean'"),
    "names with gaps": (
        "bert_classes",
        {"id2label": {"1": "a", "2": "b", "3": "c"}},
        "id2label: [1, 2, 3] are not all numbers from 0",
    ),
    "names in a list": ("bert_tags", {"id2label": ["a", "b"]}, "does not name classes by their numbers"),
    "names of other classes": (
        "bert_classes",
        {"id2label": {"0": "a", "1": "b"}},
        "id2label: 2 names, and the head has 3 outputs",
    ),
    "texts that end with a token": (
        "llama_classes",
        {"tokenizer": {"add_bos_token": True, "add_eos_token": True}},
        "its texts end with sep, and those of a task here with no token",
    ),
    "texts that begin with no token": (
        "gpt2_classes",
        {},
        "reads texts that begin with no token",
    ),
}


@pytest.mark.parametrize(
    "name",
    often(
        LEFT_OUT,
        [
            "one class",
            "several numbers",
            "another activation",
            "another summary",
            "names in a list",
            "texts that begin with no token",
        ],
    ),
)
def test_a_head_that_is_not_ours_is_left_out_with_the_reason(tmp_path, name):
    golden, changed, reason = LEFT_OUT[name]
    tensors = {key: each for key, each in changed.items() if isinstance(each, np.ndarray)}
    config = {key: each for key, each in changed.items() if key not in tensors}
    settings = config.pop("tokenizer", {})
    folder = folder_of(tmp_path / "in", golden, tensors, **config)
    (tmp_path / "in" / "tokenizer_config.json").write_text(json.dumps(settings))
    read = import_model(folder, tmp_path / "bundle", "tiny")
    assert [note for note in read.notes if reason in note] and read.surplus
    assert read_recipe(tmp_path / "bundle").goal_key == "objective"


ODD = {"id2label": {"1": "a", "2": "b"}}


@pytest.mark.parametrize(
    ("name", "choices"),
    [
        pytest.param("bert_numbers", {}, marks=pytest.mark.repeated),
        pytest.param("bert_spans", {}, marks=pytest.mark.repeated),
        ("bert_choices", {}),
        ("bert_classes", {"labels": "a,b,c"}),
    ],
)
def test_names_that_no_head_needs_are_not_read(tmp_path, name, choices):
    read = import_model(folder_of(tmp_path / "in", name, **ODD), tmp_path / "bundle", "tiny", **choices)
    assert read.fresh == read.surplus == ()
    labels = tuple(choices.get("labels", "").split(",")) if choices else ()
    assert getattr(read_recipe(tmp_path / "bundle").task, "labels", ()) == labels


@pytest.mark.parametrize(
    ("name", "config", "choices", "sentence"),
    [
        ("bert_classes", {}, {"labels": "a,b"}, "in: labels: 2 names"),
        ("bert_classes", {}, {"labels": ""}, "in: labels: '' has an empty name"),
        ("bert_classes", {}, {"labels": "a,,b"}, "in: labels: 'a,,b' has an empty name"),
        ("bert_classes", ODD, {"texts": "2"}, "in: id2label"),
        ("bert_classes", {}, {"texts": "3"}, "in: texts: '3' is not 1 or 2"),
        ("bert_tags", {}, {"texts": "2"}, "in: texts: '2': a head of tagging"),
        ("bert_spans", {}, {"texts": "2"}, "in: texts: '2': a head of span"),
        ("bert_choices", {}, {"texts": "1"}, "in: texts: '1': a head of choice"),
        (
            "bert_classes",
            {"architectures": ["BertModel"]},
            {"labels": "a,b,c"},
            "in: labels: 'a,b,c': it has no head of a task",
        ),
        (
            "llama_classes",
            {},
            {"labels": "a,b,c", "begin": "none"},
            "in: labels: 'a,b,c': .*begin with no token",
        ),
    ],
)
def test_choices_that_are_not_of_the_head_are_refused(tmp_path, name, config, choices, sentence):
    with pytest.raises(InteropError, match=sentence):
        import_model(folder_of(tmp_path / "in", name, **config), tmp_path / "bundle", "tiny", **choices)
    assert not (tmp_path / "bundle").exists()
