"""Tiny backbones of KerasHub, of shapes that no preset has: three heads, an odd vocabulary, random biases."""

import json
import pathlib
from collections.abc import Collection

import keras
import keras_hub
import numpy as np

VOCABULARY, LENGTH = 37, 14
SHAPE = {"vocabulary_size": VOCABULARY, "num_layers": 2, "hidden_dim": 12, "intermediate_dim": 20}
HEADS = {**SHAPE, "num_heads": 3}
POSITIONS = {**HEADS, "max_sequence_length": LENGTH}
LLAMA = {**SHAPE, "num_query_heads": 3, "num_key_value_heads": 1}
SCALING = {
    "rope_frequency_adjustment_factor": 8.0,
    "rope_low_freq_factor": 1.0,
    "rope_high_freq_factor": 4.0,
    "rope_pretraining_sequence_length": 64,
}
ELECTRA = {"vocab_size" if key == "vocabulary_size" else key: value for key, value in POSITIONS.items()}
# The class, and its arguments.
BACKBONES: dict[str, tuple[str, dict]] = {
    "bert": ("BertBackbone", {**POSITIONS, "num_segments": 2}),
    # One layer where the names of layers are made as those of BERT or of Llama 3 are.
    "roberta": ("RobertaBackbone", {**POSITIONS, "num_layers": 1}),
    "distil_bert": ("DistilBertBackbone", {**POSITIONS, "num_layers": 1}),
    "albert": (
        "AlbertBackbone",
        {**POSITIONS, "embedding_dim": 8, "num_groups": 2, "num_inner_repetitions": 2},
    ),
    "electra": ("ElectraBackbone", {**ELECTRA, "num_layers": 1, "embedding_dim": 8}),
    "deberta_v3": ("DebertaV3Backbone", {**POSITIONS, "max_sequence_length": 9, "bucket_size": 4}),
    "xlnet": ("XLNetBackbone", HEADS),
    "gpt2": ("GPT2Backbone", POSITIONS),
    "llama_3": ("Llama3Backbone", {**LLAMA, **SCALING, "tie_word_embeddings": True}),
    "llama": (
        "LlamaBackbone",
        {
            **LLAMA,
            "num_layers": 1,
            "num_query_heads": 6,
            "num_key_value_heads": 2,
            "rope_max_wavelength": 100,
        },
    ),
    "t5": ("T5Backbone", {**HEADS, "num_layers": 1, "activation": "relu", "use_gated_activation": False}),
    "t5_1_1": ("T5Backbone", {**HEADS, "key_value_dim": 6, "tie_embedding_weights": False}),
    "bart": ("BartBackbone", POSITIONS),
}


def backbone(name: str) -> keras.Model:
    """Returns a backbone with random weights, its biases and norms too."""
    kind, arguments = BACKBONES[name]
    if name == "t5_1_1":
        approximate = keras.saving.get_registered_object("keras_hub>gelu_approximate")
        arguments = {**arguments, "activation": approximate}
    return randomised(getattr(keras_hub.models, kind)(**arguments, dtype="float32"))


def randomised(model: keras.Model) -> keras.Model:
    generator = np.random.default_rng(3)
    for weight in model.weights:
        around = 1.0 if weight.path.endswith(("gamma", "scale", "weight")) else 0.0
        weight.assign(around + 0.3 * generator.normal(size=weight.shape))
    return model


def features(rows: int = 2) -> dict[str, np.ndarray]:
    """Returns two texts of different lengths on each side, as ours read them."""
    generator = np.random.default_rng(5)
    made = {}
    for prefix, length in (("", LENGTH), ("decoder_", 9)):
        places = np.tile(np.arange(length), (rows, 1))
        made[f"{prefix}token_ids"] = generator.integers(0, VOCABULARY, (rows, length))
        made[f"{prefix}position_ids"] = places
        made[f"{prefix}document_ids"] = (places < length - 4 * np.arange(rows)[:, None]).astype(int)
    made["segment_ids"] = (made["position_ids"] >= 5).astype(int)
    return {name: value.astype("int32") for name, value in made.items()}


def their_inputs(given: dict[str, np.ndarray], wanted: Collection[str]) -> dict[str, np.ndarray]:
    """Returns features by KerasHub's names, those that a backbone reads."""
    sides = {"": "encoder_", "decoder_": "decoder_"} if "encoder_token_ids" in wanted else {"": ""}
    names = {"token_ids": "token_ids", "document_ids": "padding_mask", "segment_ids": "segment_ids"}
    made = {
        f"{side}{theirs}": given[f"{prefix}{ours}"]
        for prefix, side in sides.items()
        for ours, theirs in names.items()
        if f"{prefix}{ours}" in given
    }
    return {name: value for name, value in made.items() if name in wanted}


def unwritten(name: str) -> dict:
    """Returns arguments that KerasHub's classes take and do not write."""
    return {key: value for key, value in BACKBONES[name][1].items() if key == "tie_word_embeddings"}


def add_to_config(folder: pathlib.Path, arguments: dict) -> None:
    """Changes the arguments in a preset's `config.json`; None removes one."""
    content = json.loads((folder / "config.json").read_text())
    changed = {**content["config"], **arguments}
    content["config"] = {key: value for key, value in changed.items() if value is not None}
    (folder / "config.json").write_text(json.dumps(content))
