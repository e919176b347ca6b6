"""Writes checkpoints of Model Garden's networks with random weights, and their states and logits.

In the environment of the tests, in a process of its own, since its Keras and ours do not share one:

    TF_USE_LEGACY_KERAS=1 python -m tests.interop.tensorflow.golden.make_model_garden_golden

`model_garden.zip` has a folder a network, and the versions (`made_with.json`).
"""

import importlib.metadata
import json
import pathlib
import tempfile
import zipfile

import numpy as np
import tensorflow as tf
from official.modeling import tf_utils
from official.nlp.modeling import layers, models, networks
from official.nlp.modeling.models import t5

from tests.interop.tensorflow.model_garden_process import INPUTS

SIZES = {
    "vocab_size": 17,
    "hidden_size": 12,
    "num_layers": 2,
    "num_attention_heads": 3,
    "max_sequence_length": 16,
    "type_vocab_size": 2,
    "inner_dim": 20,
}
T5_IDS = tf.constant([[4, 5, 6, 7, 1], [8, 9, 4, 5, 1]], tf.int32)
IDS = INPUTS["input_word_ids"]
FILE = pathlib.Path(__file__).with_name("model_garden.zip")


def _random(model):
    made = np.random.default_rng(2)
    for each in model.variables:
        around = 1.0 if "gamma" in each.name else 0.0
        each.assign(made.normal(around, 0.25, each.shape))


def _encoder(**changed):
    return networks.BertEncoderV2(**{**SIZES, **changed})


def make(folder):
    """Writes an encoder, one with narrow embeddings, and a pre-trainer with its two heads."""
    for name, changed in (("encoder", {}), ("narrow", {"embedding_width": 8})):
        encoder = _encoder(**changed)
        encoder(encoder.inputs)
        _random(encoder)
        tf.train.Checkpoint(encoder=encoder).save(str(folder / name / "ckpt"))
        np.save(folder / name / "states.npy", encoder(INPUTS)["sequence_output"])
    # Those of earlier releases: functional models, whose layers are numbered.
    albert = {key: each for key, each in SIZES.items() if key != "inner_dim"}
    for name, encoder in (
        ("functional", networks.BertEncoder(**SIZES)),
        ("albert", networks.AlbertEncoder(**albert, embedding_width=8, intermediate_size=20)),
    ):
        _random(encoder)
        tf.train.Checkpoint(model=encoder).save(str(folder / name / "ckpt"))
        given = [INPUTS[key] for key in ("input_word_ids", "input_mask", "input_type_ids")]
        found = encoder(dict(zip(("input_word_ids", "input_mask", "input_type_ids"), given)))
        np.save(
            folder / name / "states.npy", found["sequence_output"] if isinstance(found, dict) else found[0]
        )
    described = "task:\n  model:\n    encoder:\n      type: albert\n      albert:\n        num_layers: 2\n"
    (folder / "albert" / "params.yaml").write_text(described)
    for name, activations, tied in (("t5", ("relu",), True), ("t5_gated", ("gelu", "linear"), False)):
        sizes = {"num_layers": 2, "d_model": 12, "d_kv": 4, "num_heads": 3, "d_ff": 20, "vocab_size": 128}
        parameters = t5.T5TransformerParams(
            **sizes,
            ffn_activations=activations,
            logits_via_embedding=tied,
            shared_embedding=True,
            one_hot_embedding=False,
            relative_attention_num_buckets=8,
        )
        model = t5.T5Transformer(parameters, compute_dtype=tf.float32)
        given = {
            "encoder_input_tokens": T5_IDS,
            "decoder_input_tokens": T5_IDS,
            "decoder_target_tokens": T5_IDS,
        }
        model(**given, training=False)
        _random(model)
        tf.train.Checkpoint(model=model).save(str(folder / name / "ckpt"))
        np.save(folder / name / "states.npy", model(**given, training=False)["logits"])
    _make_electra(folder / "electra")
    _make_xlnet(folder / "xlnet")
    pair = layers.ClassificationHead(inner_dim=12, num_classes=2, cls_token_idx=0, name="next_sentence")
    gelu = tf_utils.get_activation("gelu")
    model = models.BertPretrainerV2(
        encoder_network=_encoder(), mlm_activation=gelu, classification_heads=[pair]
    )
    found = model(INPUTS)
    _random(model)
    found = model(INPUTS)
    tf.train.Checkpoint(model=model, optimizer=tf.keras.optimizers.Adam()).save(
        str(folder / "pretrainer" / "ckpt")
    )
    np.save(folder / "pretrainer" / "states.npy", found["sequence_output"])
    np.save(folder / "pretrainer" / "masked.npy", found["mlm_logits"])
    np.save(folder / "pretrainer" / "pair.npy", found["next_sentence"])


def _make_electra(folder):
    """Writes a pre-trainer of two networks with one table, as its training loop does, and its YAML."""
    discriminator = networks.BertEncoder(**SIZES, embedding_width=8, dict_outputs=True)
    small = {**SIZES, "hidden_size": 6, "inner_dim": 10, "embedding_width": 8}
    generator = networks.BertEncoder(
        **small, embedding_layer=discriminator.get_embedding_layer(), dict_outputs=True
    )
    gelu = tf_utils.get_activation("gelu")
    model = models.ElectraPretrainer(generator, discriminator, 17, 2, 2, mlm_activation=gelu)
    masked = {"masked_lm_ids": IDS[:, 1:3], "masked_lm_weights": np.ones((2, 2), "float32")}
    model({**INPUTS, **masked})
    _random(model)
    tf.train.Checkpoint(model=model).save(str(folder / "ckpt"))
    tf.train.Checkpoint(model=model, **model.checkpoint_items).save(str(folder / "loop" / "ckpt"))
    plain = [INPUTS[key] for key in ("input_word_ids", "input_mask", "input_type_ids")]
    states = discriminator(plain)["sequence_output"]
    np.save(folder / "states.npy", states)
    logits = model.discriminator_head(model.discriminator_projection(states))
    np.save(folder / "detection.npy", tf.squeeze(logits, -1))
    of_generator = generator(plain)["sequence_output"]
    np.save(folder / "generator_states.npy", of_generator)
    np.save(folder / "masked.npy", model.masked_lm(of_generator, tf.constant(INPUTS["masked_lm_positions"])))
    (folder / "params.yaml").write_text(
        "task:\n  model:\n    discriminator_encoder:\n      bert:\n        hidden_size: 12\n"
        "        dropout_rate: 0.2\n    generator_encoder:\n      bert:\n        hidden_size: 6\n"
    )


def _make_xlnet(folder):
    """Writes an XLNet of one stream, and one of both streams in its pre-trainer."""
    sizes = {key: SIZES[key] for key in ("vocab_size", "num_layers", "hidden_size", "num_attention_heads")}
    given = {"input_ids": IDS, "segment_ids": INPUTS["input_type_ids"]}

    def encoder(two_stream):
        return networks.XLNetBase(
            **sizes, head_size=4, inner_size=20, attention_type="bi", bi_data=False, inner_activation="gelu",
            use_cls_mask=False,
            dropout_rate=0.0, attention_dropout_rate=0.0, tie_attention_biases=False, two_stream=two_stream,
            initializer=tf.keras.initializers.RandomNormal(),
        )  # fmt: skip

    plain = encoder(two_stream=False)
    mask = tf.constant(INPUTS["input_mask"], tf.float32)
    plain(**given, input_mask=mask)
    _random(plain)
    tf.train.Checkpoint(encoder=plain).save(str(folder / "ckpt"))
    np.save(folder / "states.npy", plain(**given, input_mask=mask)[0])
    model = models.XLNetPretrainer(network=encoder(two_stream=True))
    places = tf.one_hot(INPUTS["masked_lm_positions"], 8)
    streams = {
        "permutation_mask": tf.zeros((2, 8, 8)),
        "target_mapping": places,
        "masked_tokens": tf.zeros((2, 8)),
    }
    model({"input_word_ids": IDS, "input_type_ids": INPUTS["input_type_ids"], **streams})
    tf.train.Checkpoint(model=model).save(str(folder / "pretrainer" / "ckpt"))


def write_file():
    """Makes all, and puts it into the file."""
    with tempfile.TemporaryDirectory() as place, zipfile.ZipFile(FILE, "w", zipfile.ZIP_DEFLATED) as file:
        make(pathlib.Path(place))
        for path in sorted(pathlib.Path(place).rglob("*")):
            if path.is_file() and path.name != "checkpoint":
                # Each is of the first day of archives, so that the same content makes the same file.
                named = zipfile.ZipInfo(str(path.relative_to(place)))
                file.writestr(named, path.read_bytes(), zipfile.ZIP_DEFLATED)
        versions = {each: importlib.metadata.version(each) for each in ("tf-models-official", "tensorflow")}
        file.writestr(zipfile.ZipInfo("made_with.json"), json.dumps(versions))


if __name__ == "__main__":
    write_file()
