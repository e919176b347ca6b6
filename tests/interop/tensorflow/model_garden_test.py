"""Model Garden's BERT comes in and goes out, and computes the same in its own networks."""

import os
import pathlib
import subprocess
import sys
import zipfile

import keras
import numpy as np
import pytest
from tensorflow.core.protobuf.trackable_object_graph_pb2 import TrackableObjectGraph

from firth import features as names
from firth.interop.errors import InteropError
from firth.interop.tensorflow import import_model, model_garden_exporting
from firth.interop.tensorflow.model_garden import read_yaml
from firth.models.bundle import load_model, read_recipe
from tests.interop.tensorflow import originals
from tests.repeating import often

PROCESS = "tests.interop.tensorflow.model_garden_process"
GOLDEN = pathlib.Path(__file__).parent / "golden" / "model_garden.zip"
IDS = np.array([[2, 5, 6, 7, 3, 8, 9, 3], [2, 9, 9, 3, 5, 3, 0, 0]], "int32")
FEATURES = {
    names.TOKEN_IDS: IDS,
    names.DOCUMENT_IDS: (IDS > 0).astype("int32"),
    names.SEGMENT_IDS: np.array([[0] * 5 + [1] * 3, [0] * 4 + [1, 1, 0, 0]], "int32"),
    names.POSITION_IDS: np.broadcast_to(np.arange(8, dtype="int32"), (2, 8)),
    names.MASKED_POSITIONS: np.array([[1, 3], [2, 4]], "int32"),
    names.MASKED_WEIGHTS: np.ones((2, 2), "float32"),
}
NAMES = ("encoder", "narrow", "pretrainer")
EARLIER = ("functional", "albert")
CLOSE = {"rtol": 0, "atol": 1e-5}


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """The folder of Model Garden's checkpoints."""
    home = tmp_path_factory.mktemp("model_garden")
    with zipfile.ZipFile(GOLDEN) as file:
        file.extractall(home)
    return home


@pytest.fixture(scope="module")
def made(home):
    """Folders of Model Garden's checkpoints, the bundles of them, and what has been exported of these."""
    reads = {}
    for name in (*NAMES, *EARLIER):
        vocabulary = "".join(f"{piece}\n" for piece in originals.PIECES)
        (home / name / "vocab.txt").write_text(vocabulary, encoding="utf-8")
        reads[name] = import_model(home / name, home / f"{name}_bundle", name)
        if name in (*NAMES, "albert"):
            model_garden_exporting.export_model(home / f"{name}_bundle", home / f"{name}_out")
    return home, reads


@pytest.mark.parametrize("name", ["t5", pytest.param("t5_gated", marks=pytest.mark.repeated)])
def test_logits_of_t5(made, name):
    home, _ = made
    (home / name / "t5.model").write_bytes(originals.sentence_piece(originals.T5_PIECES))
    assert import_model(home / name, home / f"{name}_bundle", name).fresh == ()
    model = load_model(home / f"{name}_bundle", dtype="float32")
    ids = np.array([[4, 5, 6, 7, 1], [8, 9, 4, 5, 1]], "int32")
    rows = {"token_ids": ids, "position_ids": np.broadcast_to(np.arange(5, dtype="int32"), ids.shape)}
    rows["document_ids"] = np.ones_like(ids)
    features = {**rows, **{f"decoder_{key}": each for key, each in rows.items()}}
    logits = keras.ops.convert_to_numpy(model.heads.logits(model.backbone, features)["lm"])
    np.testing.assert_allclose(logits, np.load(home / name / "states.npy"), **CLOSE)


def states_of(bundle):
    model = load_model(bundle, dtype="float32")
    return model, keras.ops.convert_to_numpy(model.backbone(FEATURES))[IDS > 0]


@pytest.mark.parametrize("place", [pytest.param("electra", marks=pytest.mark.repeated), "electra/loop"])
def test_an_electra_pretrainer_has_a_discriminator_and_a_generator(made, tmp_path, place):
    home, _ = made
    folder = home / "electra"
    (folder / "vocab.txt").write_text("".join(f"{piece}\n" for piece in originals.PIECES), encoding="utf-8")
    (folder / "loop" / "vocab.txt").write_text((folder / "vocab.txt").read_text(), encoding="utf-8")
    for part, states, loss, expected in (
        ("discriminator", "states", "rtd", "detection"),
        ("generator", "generator_states", "mlm", "masked"),
    ):
        given = {"part": part, "config": str(folder / "params.yaml")}
        read = import_model(home / place, tmp_path / part, "electra", **given)
        model, found = states_of(tmp_path / part)
        np.testing.assert_allclose(found, np.load(folder / f"{states}.npy")[IDS > 0], **CLOSE)
        given = {key: each for key, each in FEATURES.items() if loss == "mlm" or "masked" not in key}
        logits = keras.ops.convert_to_numpy(model.heads.logits(model.backbone, given)[loss])
        # Decisions are of two classes, of which the first has a logit of 0.
        logits = logits[..., 1] if loss == "rtd" else logits
        wanted = np.load(folder / f"{expected}.npy")
        known = IDS > 0 if loss == "rtd" else slice(None)
        np.testing.assert_allclose(logits.reshape(wanted.shape)[known], wanted[known], **CLOSE)
        # What the discriminator is trained with is of embeddings that both share here.
        assert {path.split("/")[1] for path in read.fresh} <= {
            "generator",
            "generator_projection",
            "masked_lm_head",
        }
        assert part == "discriminator" or not read.fresh
    assert read_recipe(tmp_path / "discriminator").model.dropout == 0.2


def test_an_xlnet_of_one_stream_and_of_two(made, tmp_path):
    home, _ = made
    for place in (home / "xlnet", home / "xlnet" / "pretrainer"):
        (place / "spiece.model").write_bytes(originals.sentence_piece(originals.XLNET_PIECES))
    read = import_model(home / "xlnet", tmp_path / "one", "xlnet")
    assert "backbone/mask_embedding/table" in read.fresh and read.surplus == ()
    np.testing.assert_allclose(
        states_of(tmp_path / "one")[1], np.load(home / "xlnet" / "states.npy")[IDS > 0], **CLOSE
    )
    read = import_model(home / "xlnet" / "pretrainer", tmp_path / "two", "xlnet")
    assert not [path for path in read.fresh if path.startswith("backbone/")]
    assert {name.split("/")[1] for name in read.surplus} == {"_masked_lm"}


@pytest.mark.parametrize("name", often([*NAMES, *EARLIER], ["narrow", "pretrainer", "albert"]))
def test_states_are_those_of_its_networks(made, name):
    home, reads = made
    model = load_model(home / f"{name}_bundle", dtype="float32")
    states = keras.ops.convert_to_numpy(model.backbone(FEATURES))
    real = IDS > 0
    np.testing.assert_allclose(states[real], np.load(home / name / "states.npy")[real], **CLOSE)
    # The encoder's own pooler.
    assert len(reads[name].surplus) == 2
    if name == "pretrainer":
        logits = model.heads.logits(model.backbone, FEATURES)
        assert reads[name].fresh == ()
        for key, loss in (("masked", "mlm"), ("pair", "nsp")):
            found, expected = keras.ops.convert_to_numpy(logits[loss]), np.load(home / name / f"{key}.npy")
            np.testing.assert_allclose(found.reshape(expected.shape), expected, **CLOSE)


def test_tensors_come_out_as_they_came_in(made):
    home, _ = made
    for name in NAMES:
        before, after = originals.read(home / name), originals.read(home / f"{name}_out")
        shared = {
            key: each
            for key, each in before.items()
            if key.startswith("encoder/") and "_pooler_layer" not in key
        }
        assert name == "pretrainer" or shared.keys() <= after.keys()
        for key, tensor in shared.items():
            np.testing.assert_array_equal(after[key], tensor, err_msg=key)
        again = import_model(home / f"{name}_out", home / f"{name}_again", name)
        assert not [path for path in again.fresh if path.startswith("backbone/")]


def test_an_albert_comes_out_as_it_came_in(made):
    home, _ = made
    before, after = originals.read(home / "albert"), originals.read(home / "albert_out")
    named = {
        key.replace("model/", "encoder/"): each for key, each in before.items() if "weights-6" not in key
    }
    for key in named.keys() - {"_CHECKPOINTABLE_OBJECT_GRAPH", *(each for each in named if "save_" in each)}:
        np.testing.assert_array_equal(after[key], named[key], err_msg=key)
    config = read_yaml(str(home / "albert_out" / "params.yaml"), "encoder")
    assert (config["num_layers"], config["embedding_width"], config["hidden_activation"]) == (
        "2",
        "8",
        "gelu",
    )


def test_an_albert_of_two_blocks_does_not_go_out(tmp_path):
    folder, _ = originals.write_family(tmp_path / "in", "albert")
    import_model(folder, tmp_path / "bundle", "albert")
    with pytest.raises(InteropError, match=r"AlbertEncoder of Model Garden: model\.share_layers"):
        model_garden_exporting.export_model(tmp_path / "bundle", tmp_path / "out")


def objects(folder):
    """The objects of a folder's only checkpoint: the children of each by their names, and its attributes."""
    graph = TrackableObjectGraph.FromString(originals.read(folder)["_CHECKPOINTABLE_OBJECT_GRAPH"])
    return [
        (
            {child.local_name: child.node_id for child in node.children},
            [each.name for each in node.attributes],
        )
        for node in graph.nodes
    ]


# Lists of numbers, which a restore does not ask for.
LISTS = {"axis", "partial_output_shape", "full_output_shape"}


@pytest.mark.parametrize(
    ("name", "root"), [("encoder", "encoder"), ("narrow", "encoder"), ("albert", "model")]
)
def test_each_object_has_its_counterpart_as_a_restore_asks(name, root, made):
    """A restore follows the names of children, and is whole if no object of either encoder is left."""
    check_objects(made[0] / name, made[0] / f"{name}_out", root, "encoder")


def check_objects(one_folder, other_folder, root, other_root):
    """Passes if each object below the root of a checkpoint has one counterpart in another, but for lists."""
    theirs, ours = objects(one_folder), objects(other_folder)
    pairs, left = {}, [(theirs[0][0][root], ours[0][0][other_root])]
    while left:
        one, other = left.pop()
        if one not in pairs:
            pairs[one] = other
            named = ours[other][0]
            left += [(child, named[key]) for key, child in theirs[one][0].items() if key in named]
    asked = [(key, child) for one in pairs for key, child in theirs[one][0].items()]
    assert {key for key, child in asked if child not in pairs} == LISTS
    assert {child for other in pairs.values() for child in ours[other][0].values()} <= {*pairs.values()}
    assert [theirs[one][1] for one in pairs] == [ours[other][1] for other in pairs.values()]


@pytest.mark.repeated
def test_its_own_encoder_restores_what_goes_out_whole(made):
    pytest.importorskip("official.nlp", reason="the extra modelgarden")
    home, _ = made
    environment = {**os.environ, "TF_USE_LEGACY_KERAS": "1"}
    names = (*NAMES, "albert")
    command = [sys.executable, "-m", PROCESS, *(str(home / f"{name}_out") for name in names)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    for name in names:
        real = IDS > 0
        expected = np.load(home / name / "states.npy")[real]
        np.testing.assert_allclose(np.load(home / f"{name}_out" / "states.npy")[real], expected, **CLOSE)
