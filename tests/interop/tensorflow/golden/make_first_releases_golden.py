"""Writes checkpoints of the first releases of Model Garden's BERT with random weights, and their logits.

Their code runs in the environment of the tests, with the names that TensorFlow had in those days
(`_older_names`). The wheels of tf-models-official 0.0.3.dev1, whose code is that of the branch of TensorFlow
2.0, of 2.2.0 and of 2.3.0 are unpacked in folders of these names in one folder:

    TF_USE_LEGACY_KERAS=1 python -m tests.interop.tensorflow.golden.make_first_releases_golden FOLDER

`first_releases.zip` has a folder a model, and the versions (`made_with.json`).
"""

import argparse
import importlib
import importlib.metadata
import json
import pathlib
import subprocess
import sys
import tempfile
import types
import zipfile

import numpy as np
import tensorflow as tf

from tests.interop.tensorflow.model_garden_process import INPUTS

CONFIG = {
    "vocab_size": 17,
    "hidden_size": 8,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 12,
    "max_position_embeddings": 8,
    "type_vocab_size": 2,
}
PLACES = [[1, 3], [2, 4]]
RELEASES = {"0.0.3.dev1": "first", "2.2.0": "second", "2.3.0": "third"}
FILE = pathlib.Path(__file__).with_name("first_releases.zip")
GIVEN = {key: tf.constant(INPUTS[key]) for key in ("input_word_ids", "input_mask", "input_type_ids")}


def _older_names():
    """Adds the names that are gone."""
    network = types.ModuleType("tensorflow.python.keras.engine.network")
    network.Network = tf.keras.Model
    sys.modules[network.__name__] = network
    importlib.import_module("tensorflow.python.keras.engine").network = network
    precision = tf.keras.mixed_precision
    precision.experimental = types.SimpleNamespace(global_policy=precision.global_policy)
    # It is imported, and used for modules of a hub alone.
    sys.modules["tensorflow_hub"] = types.ModuleType("tensorflow_hub")


def _models(release):
    """Yields the name and the model of each, and its inputs; None for a pre-trainer's."""
    if release == "first":
        made = importlib.import_module("official.nlp.bert_models")
        config = importlib.import_module("official.nlp.bert_modeling").BertConfig(**CONFIG)
        yield "classes", made.classifier_model(config, tf.float32, 3, 8)[0], GIVEN
        names = ("input_ids", "input_mask", "segment_ids")
        squad = {**dict(zip(names, GIVEN.values())), "unique_ids": tf.zeros((2, 1), tf.int32)}
        yield "spans", made.squad_model(config, 8, tf.float32)[0], squad
        yield "pretrainer", made.pretrain_model(config, 8, 2)[0], None
    else:
        made = importlib.import_module("official.nlp.bert.bert_models")
        config = importlib.import_module("official.nlp.bert.configs").BertConfig(**CONFIG)
        yield "classes", made.classifier_model(config, 3, 8)[0], list(GIVEN.values())
        if release == "second":
            yield "spans", made.squad_model(config, 8)[0], list(GIVEN.values())


def make(folder, release):
    """Writes each model of a release."""
    _older_names()
    for name, model, given in _models(release):
        random = np.random.default_rng(2)
        for each in model.variables:
            each.assign(random.normal(1.0 if "gamma" in each.name else 0.0, 0.25, each.shape))
        place = folder / f"{release}_{name}"
        tf.train.Checkpoint(model=model).write(str(place / "ckpt"))
        (place / "bert_config.json").write_text(json.dumps({**CONFIG, "hidden_act": "gelu"}))
        if given is None:
            heads = tf.keras.Model(model.inputs, model.get_layer("cls").output)
            rest = {"masked_lm_ids": [[0, 0]] * 2, "masked_lm_weights": [[1, 1]] * 2}
            rest = {**rest, "masked_lm_positions": PLACES, "next_sentence_labels": [[0]] * 2}
            found = heads({**GIVEN, **{key: tf.constant(each) for key, each in rest.items()}})
            np.save(place / "masked.npy", found[0])
            np.save(place / "pair.npy", found[1])
            continue
        found = model(given)
        # The first release's model of answers has the number of each question too.
        np.save(place / "logits.npy", np.stack(found[-2:]) if isinstance(found, (list, tuple)) else found)


def write_file(home):
    """Makes all, each release in a process of its own, and puts it into the file."""
    with tempfile.TemporaryDirectory() as place, zipfile.ZipFile(FILE, "w", zipfile.ZIP_DEFLATED) as file:
        for version, release in RELEASES.items():
            command = [sys.executable, "-m", __spec__.name, str(home / version), "--release", release]
            subprocess.run([*command, "--into", place], check=True)
        for path in sorted(pathlib.Path(place).rglob("*")):
            if path.is_file():
                # Each is of the first day of archives, so that the same content makes the same file.
                named = zipfile.ZipInfo(str(path.relative_to(place)))
                file.writestr(named, path.read_bytes(), zipfile.ZIP_DEFLATED)
        versions = {"tf-models-official": [*RELEASES], "tensorflow": importlib.metadata.version("tensorflow")}
        file.writestr(zipfile.ZipInfo("made_with.json"), json.dumps(versions))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--release")
    parser.add_argument("--into", type=pathlib.Path)
    arguments = parser.parse_args()
    if arguments.release:
        sys.path.insert(0, str(arguments.folder))
        make(arguments.into, arguments.release)
    else:
        write_file(arguments.folder)
