"""Heads of Model Garden's fine-tuned models come in with their task, compute the same, and go out again."""

import functools
import os
import pathlib
import subprocess
import sys
import zipfile

import keras
import numpy as np
import pytest

import firth
from firth import features as names
from firth.interop.tensorflow import import_model, model_garden_exporting
from firth.models.bundle import load_model, read_recipe
from tests.interop.tensorflow import originals
from tests.interop.tensorflow.model_garden_test import CLOSE, FEATURES, IDS, PROCESS, check_objects
from tests.repeating import often
from tests.training.eagerly import eagerly

GOLDEN = [
    pathlib.Path(__file__).parent / "golden" / f"{name}.zip"
    for name in ("model_garden_heads", "first_releases")
]
# The task of each model, and the number of tensors of its encoder's pooler, if no head reads them.
MODELS = {
    "classes": ("classification", 0),
    "own_pooler": ("classification", 2),
    "items": ("classification", 2),
    "functional_classes": ("classification", 0),
    "albert_classes": ("classification", 0),
    "number": ("regression", 0),
    "spans": ("span", 2),
    "functional_spans": ("span", 2),
    "tags": ("tagging", 2),
    # Written by Model Garden's branch for TensorFlow 2.0, and by its release 2.2.
    "first_classes": ("classification", 0),
    "first_spans": ("span", 2),
    "second_classes": ("classification", 0),
    "second_spans": ("span", 2),
}
# Each task, and each way to write a model.
FEW = ("own_pooler", "items", "number", "tags", "functional_spans", "first_classes", "second_spans")
READ = {key: each for key, each in FEATURES.items() if not key.startswith("masked_")}
READ |= {names.POOLED_POSITIONS: np.zeros((2, 1), "int32")}


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """The folder of Model Garden's fine-tuned models, each with a vocabulary."""
    home = tmp_path_factory.mktemp("model_garden_heads")
    for golden in GOLDEN:
        with zipfile.ZipFile(golden) as file:
            file.extractall(home)
    vocabulary = "".join(f"{piece}\n" for piece in originals.PIECES)
    for place in (each for each in home.iterdir() if each.is_dir()):
        (place / "vocab.txt").write_text(vocabulary, encoding="utf-8")
    return home


def check_logits(bundle, expected):
    model, kind = load_model(bundle, dtype="float32"), read_recipe(bundle).task.kind
    found = model.heads.logits(model.backbone, READ)
    made = np.stack([keras.ops.convert_to_numpy(each) for each in found.values()])
    if kind == "span":
        made = np.stack([keras.ops.convert_to_numpy(found[side]) for side in ("start", "end")])
    made = made.reshape(expected.shape)
    # Logits of padding are read by nobody.
    real = {"span": (slice(None), IDS > 0), "tagging": IDS > 0}.get(kind, slice(None))
    np.testing.assert_allclose(made[real], expected[real], **CLOSE)


@pytest.mark.parametrize("name", often(MODELS, FEW))
def test_logits_are_those_of_its_models(home, tmp_path, name):
    kind, surplus = MODELS[name]
    read = import_model(home / name, tmp_path / "bundle", "tuned")
    assert read.fresh == () and len(read.surplus) == surplus
    assert read_recipe(tmp_path / "bundle").task.kind == kind
    check_logits(tmp_path / "bundle", np.load(home / name / "logits.npy"))


def test_a_pre_trainer_of_the_first_release_has_both_heads(home, tmp_path):
    read = import_model(home / "first_pretrainer", tmp_path / "bundle", "bert")
    assert read.fresh == read.surplus == ()
    model = load_model(tmp_path / "bundle", dtype="float32")
    logits = model.heads.logits(model.backbone, FEATURES)
    for name, loss in (("masked", "mlm"), ("pair", "nsp")):
        expected = np.load(home / "first_pretrainer" / f"{name}.npy")
        found = keras.ops.convert_to_numpy(keras.ops.log_softmax(logits[loss])).reshape(expected.shape)
        np.testing.assert_allclose(found, expected, **CLOSE)


# Release 2.3 has taggers of the same objects as its classifiers.
@pytest.mark.parametrize("name", ["given", "one_tag", "third_classes"])
def test_heads_that_are_not_here_are_left_out(home, tmp_path, name):
    read = import_model(home / name, tmp_path / "bundle", "tuned")
    assert "model/layer_with_weights-1" in "".join(read.surplus)
    assert not [path for path in read.fresh if path.startswith("backbone/")]
    assert getattr(read_recipe(tmp_path / "bundle"), "task", None) is None


def test_a_classifier_answers(home):
    with eagerly():
        answers = firth.load(home / "classes").predict(["the river", "run"])
    assert [answer["labels"] for answer in answers] == [["LABEL_0", "LABEL_1", "LABEL_2"]] * 2
    assert answers[0]["probabilities"] != answers[1]["probabilities"]


ENCODER = "model/layer_with_weights-0/layer_with_weights-1/"
OUT = {
    "classes": "BertClassifier",
    "own_pooler": "BertClassifier",
    "number": "BertClassifier",
    "functional_spans": "BertSpanLabeler",
    "tags": "BertTokenClassifier",
    "albert_classes": "BertClassifier",
}


@pytest.fixture(scope="module")
def written(home):
    """Writes the export of a model when it is first asked for, and returns its notes."""

    @functools.cache
    def write(name):
        import_model(home / name, home / f"{name}_bundle", "tuned")
        return model_garden_exporting.export_model(home / f"{name}_bundle", home / f"{name}_out").notes

    return write


@pytest.mark.parametrize("name", often(OUT, ["own_pooler", "functional_spans", "tags"]))
def test_heads_come_out_as_they_came_in(home, written, name):
    notes = written(name)
    before, after = originals.read(home / name), originals.read(home / f"{name}_out")
    head = {key: each for key, each in before.items() if "layer_with_weights-1/" in key.removeprefix(ENCODER)}
    assert len(head) == (4 if name == "own_pooler" else 2)
    for key, tensor in head.items():
        # A classifier's own pooler goes out as its encoder's.
        there = key.replace("model/layer_with_weights-1/dense", "encoder/_pooler_layer")
        np.testing.assert_array_equal(after[there], tensor, err_msg=key)
    has_names = any("names of classes" in note for note in notes)
    assert has_names is (name not in ("number", "functional_spans"))
    assert not any("left out" in note for note in notes)
    assert import_model(home / f"{name}_out", home / f"{name}_again", "tuned").fresh == ()
    check_logits(home / f"{name}_again", np.load(home / name / "logits.npy"))


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("classes", marks=pytest.mark.repeated),
        pytest.param("number", marks=pytest.mark.repeated),
        "tags",
        pytest.param("albert_classes", marks=pytest.mark.repeated),
    ],
)
def test_each_object_of_a_model_has_its_counterpart(home, written, name):
    written(name)
    check_objects(home / name, home / f"{name}_out", "model", "model")


@pytest.mark.repeated
def test_its_own_models_restore_what_goes_out_whole(home, written):
    pytest.importorskip("official.nlp", reason="the extra modelgarden")
    for name in OUT:
        written(name)
    environment = {**os.environ, "TF_USE_LEGACY_KERAS": "1"}
    given = [f"{architecture}={home / f'{name}_out'}" for name, architecture in OUT.items()]
    done = subprocess.run(
        [sys.executable, "-m", PROCESS, *given], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
    for name in OUT:
        found, expected = (np.load(home / place / "logits.npy") for place in (f"{name}_out", name))
        np.testing.assert_allclose(found, expected, **CLOSE)
