"""Model Garden in a process of its own, since its Keras and ours do not share one.

    TF_USE_LEGACY_KERAS=1 python -m tests.interop.tensorflow.model_garden_process FOLDER ...

Restores the checkpoint of each folder whole in the encoder that the YAML there describes, and writes its
states; of CLASS=FOLDER in a fine-tuned model of that class, such as `BertSpanLabeler`, and writes its logits.
"""

import pathlib
import sys

import numpy as np
import tensorflow as tf
import yaml

IDS = np.array([[2, 5, 6, 7, 3, 8, 9, 3], [2, 9, 9, 3, 5, 3, 0, 0]], "int32")
INPUTS = {
    "input_word_ids": IDS,
    "input_mask": (IDS > 0).astype("int32"),
    "input_type_ids": np.array([[0] * 5 + [1] * 3, [0] * 4 + [1, 1, 0, 0]], "int32"),
    "masked_lm_positions": np.array([[1, 3], [2, 4]], "int32"),
}


def _encoder(folder):
    from official.nlp.configs import encoders

    described = yaml.safe_load((folder / "params.yaml").read_text())["task"]["model"]["encoder"]
    encoder = encoders.build_encoder(encoders.EncoderConfig(described))
    inputs = {key: INPUTS[key] for key in ("input_word_ids", "input_mask", "input_type_ids")}
    encoder(inputs)
    return encoder, inputs


def read(folder):
    """Restores a checkpoint of ours, all of it, in its own encoder."""
    encoder, inputs = _encoder(folder)
    tf.train.Checkpoint(encoder=encoder).read(str(folder / "ckpt-0")).assert_consumed()
    np.save(folder / "states.npy", encoder(inputs)["sequence_output"])


def read_head(architecture, folder):
    """Restores a checkpoint of ours, all of it, in its own fine-tuned model, and its encoder in another."""
    from official.nlp.modeling import models

    encoder, inputs = _encoder(folder)
    (outputs,) = next(
        shape
        for name, shape in tf.train.list_variables(str(folder / "ckpt-0"))
        if name.startswith("model/layer_with_weights-1/") and "/bias/" in name
    )
    sizes = () if architecture == "BertSpanLabeler" else (outputs,)
    model = getattr(models, architecture)(encoder, *sizes)
    tf.train.Checkpoint(model=model).read(str(folder / "ckpt-0")).assert_consumed()
    other, _ = _encoder(folder)
    tf.train.Checkpoint(encoder=other).read(str(folder / "ckpt-0")).assert_existing_objects_matched()
    np.testing.assert_array_equal(other(inputs)["sequence_output"], encoder(inputs)["sequence_output"])
    found = model({key: tf.constant(each) for key, each in inputs.items()})
    found = found["logits"] if isinstance(found, dict) else found
    np.save(folder / "logits.npy", np.stack(found) if isinstance(found, list) else found)


if __name__ == "__main__":
    for each in sys.argv[1:]:
        architecture, _, place = each.rpartition("=")
        if architecture:
            read_head(architecture, pathlib.Path(place))
        else:
            read(pathlib.Path(place))
