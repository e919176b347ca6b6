"""Heads of fine-tuned ELECTRAs and XLNets come in with their task, and go out again."""

import functools
import json
import shutil

import keras
import numpy as np
import pytest

import firth
from firth import features as names
from firth.interop.errors import InteropError
from firth.interop.tensorflow import export_model, import_model
from firth.models.bundle import load_model, read_recipe
from tests.interop.tensorflow import originals
from tests.interop.tensorflow.golden import make_heads_golden as golden
from tests.repeating import often
from tests.training.eagerly import eagerly

CLOSE = {"rtol": 0, "atol": 1e-5}


@functools.cache
def golden_of(family):
    with np.load(golden.originals.HERE / f"{family}_heads.npz") as found:
        return dict(found)


def tensors_of(family, *scopes):
    """The tensors of the encoder and of the heads in some scopes."""
    found = golden_of(family)
    weights = {key.removeprefix("weight/"): each for key, each in found.items() if key.startswith("weight/")}
    base = ("electra/", "model/transformer/")
    # A summary by attention has it.
    weights |= {each: np.zeros(8, "float32") for each in scopes if each.endswith("summary_bias")}
    return {name: each for name, each in weights.items() if name.startswith((*base, *scopes))}


def bring(tmp_path, family, *scopes, name="tuned", **choices):
    tensors = tensors_of(family, *scopes)
    folder, _ = originals.write_family(tmp_path / "in", family, tensors)
    config = json.loads(str(golden_of(family)["made_with"]))["config"]
    (folder / f"{family}_config.json").write_text(json.dumps(config))
    return tensors, import_model(folder, tmp_path / "bundle", name, **choices)


def logits_of(bundle, family, place):
    """Logits of the golden file's rows, whose answers are read at a place."""
    found = golden_of(family)
    ids = found["input/ids"]
    features = {
        names.TOKEN_IDS: ids,
        names.SEGMENT_IDS: found["input/segments"],
        names.POSITION_IDS: np.broadcast_to(np.arange(ids.shape[1], dtype="int32"), ids.shape),
        names.DOCUMENT_IDS: found["input/mask"],
        names.POOLED_POSITIONS: np.full((2, 1), place, "int32"),
        names.CHOICE_COUNTS: np.ones((2, 1), "int32"),
    }
    model = load_model(bundle, dtype="float32")
    made = model.heads.logits(model.backbone, features)
    return {name: keras.ops.convert_to_numpy(each) for name, each in made.items()}


ELECTRA = {
    "mnli": ("classification", "label", "mnli/logits"),
    "sts": ("regression", "value", "sts/predictions"),
    "chunk": ("tagging", "tag", "chunk/logits"),
}


@pytest.mark.parametrize("task", often(ELECTRA, ["mnli", "chunk"]))
def test_an_electra_of_one_layer(tmp_path, task):
    kind, _, output = ELECTRA[task]
    tensors, read = bring(tmp_path, "electra", f"task_specific/{task}/", name=task)
    assert read.fresh == read.surplus == () and read_recipe(tmp_path / "bundle").task.kind == kind
    (found,) = logits_of(tmp_path / "bundle", "electra", 0).values()
    expected, real = golden_of("electra")[f"output/{output}"], golden_of("electra")["input/mask"] > 0
    if kind == "tagging":
        np.testing.assert_allclose(found[real], expected[real], **CLOSE)
    else:
        np.testing.assert_allclose(found.reshape(expected.shape), expected, **CLOSE)
    notes = export_model(tmp_path / "bundle", tmp_path / "out").notes
    # The tagger has one name, whatever the model's.
    assert any(f"task_specific/{task}" in note for note in notes) is (kind != "tagging")
    written = originals.read(tmp_path / "out")
    assert written.keys() == tensors.keys()
    assert all(np.array_equal(each, tensors[key]) for key, each in written.items())


def test_answers_of_an_electra_without_joint_prediction(tmp_path):
    tensors, read = bring(tmp_path, "electra", "task_specific/squadv1/", name="squadv1")
    assert read.fresh == read.surplus == ()
    found = logits_of(tmp_path / "bundle", "electra", 0)
    inputs = golden_of("electra")
    # Its code takes 1,000 from the logits of the question and of padding.
    answers = inputs["input/mask"] * inputs["input/segments"] > 0
    for side in ("start", "end"):
        expected = inputs[f"output/squadv1/{side}_logits"][answers]
        np.testing.assert_allclose(found[side][:, 0][answers], expected, **CLOSE)
    export_model(tmp_path / "bundle", tmp_path / "out")
    assert all(np.array_equal(each, tensors[key]) for key, each in originals.read(tmp_path / "out").items())


@pytest.fixture(scope="module")
def square(tmp_path_factory):
    """A pre-trained ELECTRA whose embeddings are as wide as its states, which a BERT could be too."""
    folder = tmp_path_factory.mktemp("square")
    tensors = originals.random(originals.electra(embedding=originals.WIDTH))
    tensors = {name: each for name, each in tensors.items() if "embeddings_project" not in name}
    originals.write_family(folder / "in", "electra", tensors)
    config = {**originals.BERT, "embedding_size": originals.WIDTH}
    (folder / "in" / "electra_config.json").write_text(json.dumps(config))
    import_model(folder / "in", folder / "bundle", "square")
    return folder / "bundle"


@pytest.mark.parametrize(
    ("task", "label", "form"),
    [
        ("classification", "a", ("task.form.pooling=first_state",)),
        pytest.param("tagging", ["a"], (), marks=pytest.mark.repeated),
    ],
)
def test_an_electra_that_was_tuned_here_stays_one(tmp_path, square, task, label, form):
    base = shutil.copytree(square, tmp_path / "base")
    text, other = ("the", "b") if task == "classification" else (["the"], ["b"])
    records = [{"text": text, "label": each} for each in (label, other)]
    if task == "tagging":
        records = [{"words": text, "tags": each} for each in (label, other)]
    made = {"epochs": 1, "batch_size": 2, "overrides": form, "verbose": False}
    with eagerly():
        firth.load(base).finetune(records, records, task=task, **made).save(tmp_path / "bundle")

    def heads_of(name, **option):
        export_model(tmp_path / "bundle", tmp_path / name, **option)
        return sum(each.startswith("task_specific/") for each in originals.read(tmp_path / name))

    assert heads_of("with_base") == 2
    # As of a base that was pre-trained here: its objective is an ELECTRA's.
    whole = (base / "recipe.yaml").read_text()
    (base / "recipe.yaml").write_text(whole.replace("ELECTRA of google-research", "here"))
    assert (base / "recipe.yaml").read_text() != whole and heads_of("pre_trained") == 2
    shutil.rmtree(base)
    with pytest.raises(InteropError, match="--option family=bert or family=electra does"):
        heads_of("unknown")
    assert not (tmp_path / "unknown").exists()
    assert (heads_of("electra", family="electra"), heads_of("bert", family="bert")) == (2, 0)
    with pytest.raises(InteropError, match="family: 'electre' is not known; did you mean electra"):
        heads_of("other", family="electre")


SUMMARY = "model/sequnece_summary/"
XLNET = {
    "classification": ("classification", ("model/classification_", "model/sequnece_summary/")),
    "regression": ("regression", ("model/regression_", "model/sequnece_summary/")),
    "choice": ("choice", ("logits/", "model/sequnece_summary/")),
}


@pytest.mark.parametrize("output", often(XLNET, ["choice"]))
def test_an_xlnet_with_a_summary(tmp_path, output):
    kind, scopes = XLNET[output]
    name = {"classification": "sst-2", "regression": "sts-b"}.get(output, "race")
    tensors, read = bring(tmp_path, "xlnet", *scopes, name=name)
    assert read.surplus == () and read.fresh == ("backbone/mask_embedding/table",)
    assert read_recipe(tmp_path / "bundle").task.kind == kind
    (found,) = logits_of(tmp_path / "bundle", "xlnet", golden.originals.LENGTH - 1).values()
    expected = golden_of("xlnet")[f"output/{output}"]
    np.testing.assert_allclose(found.reshape(expected.shape), expected, **CLOSE)
    export_model(tmp_path / "bundle", tmp_path / "out")
    written = originals.read(tmp_path / "out")
    assert tensors.keys() <= written.keys()
    assert all(np.array_equal(written[key], each) for key, each in tensors.items())


def test_the_name_of_a_task_of_xlnet_is_in_small_letters(tmp_path):
    tensors, _ = bring(tmp_path, "xlnet", *XLNET["regression"][1], name="STS-B")
    written = export_model(tmp_path / "bundle", tmp_path / "out")
    assert any(note.endswith("model/regression_sts-b") for note in written.notes)
    assert tensors.keys() <= originals.read(tmp_path / "out").keys()


@pytest.mark.parametrize(
    ("family", "scopes", "left"),
    [
        ("electra", ("task_specific/squad/",), "task_specific/squad/"),
        pytest.param(
            "electra",
            ("task_specific/mnli/", "task_specific/sts/"),
            "task_specific/",
            marks=pytest.mark.repeated,
        ),
        pytest.param(
            "xlnet", ("model/classification_",), "model/classification_sst-2/", marks=pytest.mark.repeated
        ),
        pytest.param("xlnet", ("logits/",), "logits/dense/", marks=pytest.mark.repeated),
        ("xlnet", ("logits/", SUMMARY, f"{SUMMARY}summary_bias"), ("logits/dense/", SUMMARY)),
        ("xlnet", ("model/classification_", "model/regression_", "model/sequnece_summary/"), "model/"),
    ],
)
def test_heads_that_are_not_here_are_named_and_left_out(tmp_path, family, scopes, left):
    tensors, read = bring(tmp_path, family, *scopes)
    heads = {name for name in tensors if name.startswith(scopes)}
    assert {*read.surplus} == heads and all(name.startswith(left) for name in heads)
    assert getattr(read_recipe(tmp_path / "bundle"), "task", None) is None
    assert all(path.startswith(("heads/", "backbone/mask_embedding/")) for path in read.fresh)


def test_an_electra_answers_with_the_classes_that_are_given(tmp_path):
    bring(tmp_path, "electra", "task_specific/mnli/", labels="contradiction,entailment,neutral", texts="2")
    task = read_recipe(tmp_path / "bundle").task
    assert (task.signature, task.form.pooling) == ("classify_pair", "first_state")
    with eagerly():
        (answer,) = firth.load(tmp_path / "bundle").predict([("abc", "run")])
    assert answer["labels"] == ["contradiction", "entailment", "neutral"]


def test_a_fine_tuned_xlnet_is_opened_where_it_is(tmp_path):
    bring(tmp_path, "xlnet", *XLNET["classification"][1])
    with pytest.warns(UserWarning, match="mask_embedding"):
        opened = firth.load(tmp_path / "in")
    with eagerly():
        answers = opened.predict(["the river", "run"])
        again = firth.load(tmp_path / "bundle").predict(["the river", "run"])
    assert [answer["labels"] for answer in answers] == [["LABEL_0", "LABEL_1", "LABEL_2"]] * 2
    assert [each["probabilities"] for each in again] == [each["probabilities"] for each in answers]
