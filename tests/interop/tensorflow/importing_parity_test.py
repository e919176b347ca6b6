"""States and logits are those of the code of the papers, and ids those of its tokenizer."""

import functools
import json

import keras
import numpy as np
import pytest
import tensorflow as tf

from firth import features as names
from firth.interop.tensorflow import import_model
from firth.interop.tensorflow.tokenizers import VOCABULARY, read_files
from firth.models.bundle import load_model
from tests.interop.tensorflow import originals
from tests.interop.tensorflow.golden import make_originals_golden as golden
from tests.repeating import often

CLOSE = {"rtol": 0, "atol": 1e-5}
CONFIGS = {"gpt2": "hparams.json"}


@functools.cache
def golden_of(name):
    with np.load(golden.HERE / f"{name}.npz") as found:
        return dict(found)


def imported(tmp_path, name):
    """The model that a golden file's tensors make, and the features of what was read."""
    found = golden_of(name)
    tensors = {key.removeprefix("weight/"): each for key, each in found.items() if key.startswith("weight/")}
    folder, _ = originals.write_family(tmp_path / "in", name, tensors)
    (folder / CONFIGS.get(name, f"{name}_config.json")).write_text(
        json.dumps(json.loads(str(found["made_with"]))["config"])
    )
    import_model(folder, tmp_path / "bundle", name)
    ids = found["input/ids"]
    mask = found.get("input/mask", np.ones_like(ids))
    segments = found.get("input/segments", np.zeros_like(ids))
    positions = np.broadcast_to(np.arange(ids.shape[1], dtype="int32"), ids.shape)
    features = {
        names.TOKEN_IDS: ids,
        names.SEGMENT_IDS: segments,
        names.POSITION_IDS: positions,
        names.DOCUMENT_IDS: mask,
    }
    return load_model(tmp_path / "bundle", dtype="float32"), features, mask > 0


@pytest.mark.parametrize("name", often(["bert", "albert", "electra", "xlnet"], ["bert", "xlnet"]))
def test_hidden_states(tmp_path, name):
    model, features, real = imported(tmp_path, name)
    states = keras.ops.convert_to_numpy(model.backbone(features))
    np.testing.assert_allclose(states[real], golden_of(name)["output/states"][real], **CLOSE)


def test_logits_of_bert(tmp_path):
    model, features, _ = imported(tmp_path, "bert")
    places = np.array([golden.PREDICTED] * 2, "int32")
    given = {
        **features,
        names.MASKED_POSITIONS: places,
        names.MASKED_WEIGHTS: np.ones(places.shape, "float32"),
    }
    logits = model.heads.logits(model.backbone, given)
    masked = tf.nn.log_softmax(keras.ops.convert_to_numpy(logits["mlm"])).numpy()
    np.testing.assert_allclose(masked.reshape(4, -1), golden_of("bert")["output/masked"], **CLOSE)
    pair = tf.nn.log_softmax(keras.ops.convert_to_numpy(logits["nsp"])).numpy()
    np.testing.assert_allclose(pair.reshape(2, 2), golden_of("bert")["output/pair"], **CLOSE)


def test_logits_of_gpt2(tmp_path):
    model, features, _ = imported(tmp_path, "gpt2")
    logits = keras.ops.convert_to_numpy(model.heads.logits(model.backbone, features)["lm"])
    np.testing.assert_allclose(logits, golden_of("gpt2")["output/logits"], **CLOSE)


@pytest.mark.parametrize(
    ("name", "pieces"),
    [pytest.param("uncased", golden.PIECES, marks=pytest.mark.repeated), ("cased", golden.CASED)],
)
def test_ids_are_those_of_googles_tokenizer(tmp_path, name, pieces):
    (tmp_path / "vocab.txt").write_text("".join(f"{piece}\n" for piece in pieces), encoding="utf-8")
    tokenizer, notes = read_files(str(tmp_path), (VOCABULARY,), {})
    assert ("small letters" in notes[0]) == (name == "uncased")
    ids = tokenizer.tokenize(tf.constant(golden.lines())).to_list()
    expected = json.loads((golden.HERE / "tokenizers.json").read_text())[name]
    made = [golden.digest(ids[start : start + 100]) for start in range(0, golden.LINES, 100)]
    assert made == expected
