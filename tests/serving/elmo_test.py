"""`firth import elmo`: what it writes does what the imported model does."""

import json

import keras
import numpy as np
import tensorflow as tf
import yaml
from typer.testing import CliRunner

from firth.cli.main import app
from firth.models.elmo_import import load_elmo
from firth.recipes.models.model import BiLSTMConfig
from tests.models.elmo_files import BEGIN, END, characters_of, write_random_files

SENTENCES = [["a", "snow\N{SNOWMAN}man"], ["one", "two", "three", "four"], []]


def test_import_elmo(tmp_path):
    options, weights = write_random_files(tmp_path)
    arguments = ["import", "elmo", str(options), str(weights), "--output", str(tmp_path / "out")]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    written = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert written == ["_SUCCESS", "backbone.keras", "model.yaml", "serving"]
    assert all(name in result.output for name in written[1:])
    backbone = load_elmo(options, weights)
    check_keras(tmp_path / "out" / "backbone.keras", backbone)
    check_saved_model(tmp_path / "out" / "serving", backbone)
    settings = yaml.safe_load((tmp_path / "out" / "model.yaml").read_text())["model"]
    assert BiLSTMConfig.model_validate_json(json.dumps(settings)).cells == 6
    again = CliRunner().invoke(app, arguments)
    assert again.exit_code == 2 and "already exists" in again.output


def make_features(words):
    characters = np.stack([characters_of(word, 10) for word in [BEGIN, *words, END]])[None]
    return {"characters": characters, "document_ids": np.ones(characters.shape[:2], "int32")}


def check_keras(path, backbone):
    features = make_features(SENTENCES[1])
    again = keras.models.load_model(path)
    np.testing.assert_allclose(again(features), backbone(features), atol=1e-6)


def check_saved_model(path, backbone):
    padded = [words + [""] * (5 - len(words)) for words in SENTENCES]
    found = tf.saved_model.load(str(path)).signatures["embed_words"](words=tf.constant(padded))
    assert found["word_count"].numpy().tolist() == [2, 4, 0]
    for row, words in enumerate(SENTENCES):
        layers = np.array(backbone.layer_outputs(make_features(words)))[0, :, 1:-1]
        ours = found["layers"].numpy()[row]
        np.testing.assert_allclose(ours[: len(words)], layers.swapaxes(0, 1), atol=1e-5)
        np.testing.assert_array_equal(ours[len(words) :], 0.0)


def test_wrong_files_are_told(tmp_path):
    options, weights = write_random_files(tmp_path)
    for files, message in (
        ((options, options), "is not an HDF5 file"),
        ((tmp_path / "no.json", weights), "there is no file"),
    ):
        out = tmp_path / "out"
        result = CliRunner().invoke(app, ["import", "elmo", *map(str, files), "--output", str(out)])
        assert result.exit_code == 2 and message in result.output.replace("\n", " ")
        assert not out.exists()
