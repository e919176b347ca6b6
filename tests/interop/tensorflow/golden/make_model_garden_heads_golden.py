"""Writes checkpoints of Model Garden's fine-tuned models with random weights, and their logits.

In the environment of the tests, in a process of its own, since its Keras and ours do not share one:

    TF_USE_LEGACY_KERAS=1 python -m tests.interop.tensorflow.golden.make_model_garden_heads_golden

`model_garden_heads.zip` has a folder a model, and the versions (`made_with.json`).
"""

import importlib.metadata
import json
import pathlib
import tempfile
import zipfile

import numpy as np
import tensorflow as tf
from official.nlp.modeling import layers, models, networks

from tests.interop.tensorflow.model_garden_process import INPUTS

SIZES = {
    "vocab_size": 17,
    "hidden_size": 8,
    "num_layers": 1,
    "num_attention_heads": 2,
    "max_sequence_length": 8,
    "type_vocab_size": 2,
    "inner_dim": 12,
}
FILE = pathlib.Path(__file__).with_name("model_garden_heads.zip")


def _models():
    v2, functional = networks.BertEncoderV2, networks.BertEncoder
    albert = {key: each for key, each in SIZES.items() if key != "inner_dim"}
    return {
        "classes": models.BertClassifier(v2(**SIZES), 3),
        "own_pooler": models.BertClassifier(v2(**SIZES), 3, use_encoder_pooler=False),
        "number": models.BertClassifier(v2(**SIZES), 1),
        "items": models.BertClassifier(v2(**SIZES), 3, use_encoder_pooler=False),
        "functional_classes": models.BertClassifier(functional(**SIZES), 3),
        "albert_classes": models.BertClassifier(
            networks.AlbertEncoder(**albert, embedding_width=6, intermediate_size=12), 3
        ),
        "spans": models.BertSpanLabeler(v2(**SIZES)),
        "functional_spans": models.BertSpanLabeler(functional(**SIZES)),
        # Heads that do not come in.
        "given": models.BertClassifier(
            v2(**SIZES),
            3,
            use_encoder_pooler=False,
            cls_head=layers.ClassificationHead(8, 3, activation="relu"),
        ),
        "one_tag": models.BertTokenClassifier(v2(**SIZES), 1),
        "tags": models.BertTokenClassifier(v2(**SIZES), 3),
    }


def make(folder):
    """Writes each model, one of them with the items that its training loop saves."""
    given = {key: tf.constant(INPUTS[key]) for key in ("input_word_ids", "input_mask", "input_type_ids")}
    for name, model in _models().items():
        made = np.random.default_rng(2)
        for each in model.variables:
            each.assign(made.normal(1.0 if "gamma" in each.name else 0.0, 0.25, each.shape))
        items = model.checkpoint_items if name == "items" else {}
        tf.train.Checkpoint(model=model, **items).write(str(folder / name / "ckpt"))
        found = model(given)
        found = found["logits"] if isinstance(found, dict) else found
        np.save(folder / name / "logits.npy", np.stack(found) if isinstance(found, list) else found)
    described = "task:\n  model:\n    encoder:\n      type: albert\n      albert:\n        num_layers: 1\n"
    (folder / "albert_classes" / "params.yaml").write_text(described)


def write_file():
    """Makes all, and puts it into the file."""
    with tempfile.TemporaryDirectory() as place, zipfile.ZipFile(FILE, "w", zipfile.ZIP_DEFLATED) as file:
        make(pathlib.Path(place))
        for path in sorted(pathlib.Path(place).rglob("*")):
            if path.is_file():
                # Each is of the first day of archives, so that the same content makes the same file.
                named = zipfile.ZipInfo(str(path.relative_to(place)))
                file.writestr(named, path.read_bytes(), zipfile.ZIP_DEFLATED)
        versions = {each: importlib.metadata.version(each) for each in ("tf-models-official", "tensorflow")}
        file.writestr(zipfile.ZipInfo("made_with.json"), json.dumps(versions))


if __name__ == "__main__":
    write_file()
