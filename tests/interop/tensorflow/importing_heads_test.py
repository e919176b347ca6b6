"""Heads of fine-tuned checkpoints come in with their task, and go out again."""

import keras
import numpy as np
import pytest

import firth
from firth import features as names
from firth.interop.errors import InteropError
from firth.interop.hugging_face import import_model as import_hugging_face
from firth.interop.tensorflow import export_model, import_model
from firth.models.bundle import load_model, open_weights, read_recipe
from tests.interop.hugging_face.importing_heads_test import folder_of
from tests.interop.tensorflow import originals
from tests.training.eagerly import eagerly

IDS = np.array([[2, 5, 6, 7, 3, 8, 9, 3]], "int32")
FEATURES = {
    names.TOKEN_IDS: IDS,
    names.SEGMENT_IDS: np.array([[0, 0, 0, 0, 0, 1, 1, 1]], "int32"),
    names.POSITION_IDS: np.arange(IDS.size, dtype="int32")[np.newaxis],
    names.DOCUMENT_IDS: np.ones_like(IDS),
}


def tuned(family, head, outputs):
    """The tensors of a fine-tuned encoder: without the heads of its pre-training, with a head of a task."""
    shapes = {name: each for name, each in getattr(originals, family)().items() if "cls/" not in name}
    shapes |= {f"{head}_weights": (outputs, originals.WIDTH), f"{head}_bias": (outputs,)}
    return originals.random(shapes)


def bring(tmp_path, family="bert", head="output", outputs=3, **choices):
    tensors = tuned(family, head, outputs)
    folder, _ = originals.write_family(tmp_path / "in", family, tensors)
    return tensors, import_model(folder, tmp_path / "bundle", family, **choices)


def logits_of(bundle):
    """Logits of the features by their names, and the states below the head."""
    model = load_model(bundle, dtype="float32")
    made = {name: keras.ops.convert_to_numpy(each) for name, each in model.logits(FEATURES).items()}
    return made, keras.ops.convert_to_numpy(model.backbone(FEATURES))


@pytest.mark.parametrize(
    ("family", "outputs"), [pytest.param("bert", 3, marks=pytest.mark.repeated), ("albert", 5), ("bert", 1)]
)
def test_a_classifier_computes_what_run_classifier_does(tmp_path, family, outputs):
    tensors, read = bring(tmp_path, family, outputs=outputs)
    assert read.fresh == read.surplus == ()
    made, states = logits_of(tmp_path / "bundle")
    pooled = np.tanh(states[:, 0] @ tensors["bert/pooler/dense/kernel"] + tensors["bert/pooler/dense/bias"])
    expected = pooled @ tensors["output_weights"].T + tensors["output_bias"]
    (found,) = made.values()
    np.testing.assert_allclose(found[:, 0], expected, rtol=0, atol=1e-5)
    task = read_recipe(tmp_path / "bundle").task
    assert (task.kind, getattr(task, "labels", ())) == (
        ("regression", ())
        if outputs == 1
        else ("classification", tuple(f"LABEL_{number}" for number in range(outputs)))
    )


def test_spans_are_those_of_run_squad(tmp_path):
    tensors, read = bring(tmp_path, head="cls/squad/output", outputs=2)
    assert read.fresh == () and {name.split("/")[1] for name in read.surplus} == {"pooler"}
    made, states = logits_of(tmp_path / "bundle")
    expected = states @ tensors["cls/squad/output_weights"].T + tensors["cls/squad/output_bias"]
    found = np.stack([made["start"][:, 0], made["end"][:, 0]], axis=-1)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    ("family", "head", "outputs"),
    [
        ("bert", "output", 3),
        pytest.param("albert", "output", 2, marks=pytest.mark.repeated),
        ("bert", "cls/squad/output", 2),
    ],
)
def test_tensors_of_a_head_come_out_as_they_came_in(tmp_path, family, head, outputs):
    tensors, read = bring(tmp_path, family, head, outputs)
    written = export_model(tmp_path / "bundle", tmp_path / "out")
    found = originals.read(tmp_path / "out")
    assert found.keys() == tensors.keys() - {*read.surplus}
    assert all(np.array_equal(each, tensors[name]) for name, each in found.items())
    # Its configuration has no names of classes.
    assert any("LABEL_0,LABEL_1" in note for note in written.notes) == (head == "output")


@pytest.mark.parametrize(
    ("name", "labels", "note"),
    [
        ("bert_choices", (), "left out, since the original has no place for them: heads/dense"),
        pytest.param(
            "bert_tags",
            ("a", "b", "c"),
            "left out, since the original has no place for them: heads/dense",
            marks=pytest.mark.repeated,
        ),
        ("bert_classes", ("so so", "b", "c"), "--labels 'so so,b,c'"),
        ("bert_classes", ("good, or so", "b", "c"), "with a comma: 'good, or so'"),
    ],
)
def test_heads_and_names_that_files_cannot_say_are_noted(tmp_path, name, labels, note):
    """Heads that would come back as another task's do not go out."""
    folder = folder_of(tmp_path / "in", name, id2label=dict(enumerate(labels)), layer_norm_eps=1e-12)
    import_hugging_face(folder, tmp_path / "bundle", "tiny")
    written = export_model(tmp_path / "bundle", tmp_path / "out")
    is_out = "left out" in note
    assert ("output_weights" in originals.read(tmp_path / "out")) is not is_out
    assert [each for each in written.notes if note in each]
    assert any("names of classes" in each for each in written.notes) is not is_out


def test_the_classes_have_the_names_that_are_given(tmp_path):
    bring(tmp_path, labels="good, bad,so so")
    with eagerly():
        answers = firth.load(tmp_path / "bundle").predict(["the river", "run"])
    assert [answer["labels"] for answer in answers] == [["good", "bad", "so so"]] * 2
    assert answers[0]["probabilities"] != answers[1]["probabilities"]


def test_a_classifier_of_two_texts(tmp_path):
    bring(tmp_path, texts="2")
    task = read_recipe(tmp_path / "bundle").task
    assert (task.signature, task.form.segments) == ("classify_pair", True)


@pytest.mark.parametrize(
    ("head", "choices", "sentence"),
    [
        ("output", {"labels": "a,b"}, "labels: 2 names, and the head has 3 outputs"),
        ("output", {"labels": "a,b,a"}, "a class occurs twice"),
        ("output", {"texts": "3"}, "texts: '3' is not 1 or 2"),
        ("cls/squad/output", {"texts": "2"}, "texts: '2': a head of span"),
        ("cls/squad/output", {"labels": "a,b,c"}, "labels: .*no classes"),
        ("other", {"labels": "a,b,c"}, "labels: 'a,b,c': it has no head of a task that comes in"),
    ],
)
def test_a_choice_that_does_not_fit_is_refused(tmp_path, head, choices, sentence):
    with pytest.raises(InteropError, match=sentence):
        bring(tmp_path, head=head, **choices)
    assert not (tmp_path / "bundle").exists()


def test_float64_comes_in_where_float32_holds_it(tmp_path):
    tensors = tuned("bert", "output", 2)
    wide = {name: each.astype("float64") for name, each in tensors.items()}
    import_model(originals.write(tmp_path / "in", wide), tmp_path / "bundle", "bert")
    with open_weights(tmp_path / "bundle") as weights:
        np.testing.assert_array_equal(weights["heads/dense/kernel"], tensors["output_weights"].T)
    wide["output_weights"] = wide["output_weights"] + 1e-12
    with pytest.raises(InteropError, match="output_weights of float64 would be rounded to float32"):
        import_model(originals.write(tmp_path / "other", wide), tmp_path / "again", "bert")
