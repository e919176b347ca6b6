"""Each key of transformers' configuration classes is used, or changes nothing, or is refused by its name.

`golden/keys.npz` holds what transformers' models compute with other values of each key; see
golden/make_keys_golden.py.
"""

import functools
import json
import pathlib

import keras
import numpy as np
import pytest

from firth.interop.errors import InteropError
from firth.interop.hugging_face.config import GENERATION
from firth.interop.hugging_face.families import FAMILIES
from firth.interop.hugging_face.importing import incoming_weights
from firth.models import PretrainingModel, example_sums, total_loss
from firth.models.bundle import specs_of, weights_by_path
from tests.interop.hugging_face.checkpoints import model_type, opened
from tests.interop.hugging_face.golden.key_weights import weight_of
from tests.models import models_parity_test, references
from tests.repeating import often

FILE = pathlib.Path(__file__).with_name("golden") / "keys.npz"
# Those that have no losses in the file, whose heads need other inputs.
STATES_ALONE = ("electra", "xlnet")
CLOSE = {"rtol": 0, "atol": 2e-4}


@functools.cache
def golden() -> dict:
    with np.load(FILE) as arrays:
        found = {name: arrays[name] for name in arrays.files}
    return {"arrays": found, **json.loads(str(found["walk"]))}


NAMES = list(golden()["models"])
names = pytest.mark.parametrize("name", NAMES)


def config_of(name: str, entry: dict) -> dict:
    config = {"model_type": model_type(name), **references.made_with(name)["config"]}
    return {key: value for key, value in config.items() if key not in entry["without"]} | entry["with"]


def family_of(name: str):
    return FAMILIES[model_type(name)]


class Named(dict):
    """Tensors by name, as far as reading a configuration needs them."""

    def are_same(self, one, other):
        return np.array_equal(self[one], self[other])


def tensors_of(entry: dict) -> Named:
    shapes = golden()["tables"][entry["shapes"]]
    return Named({name: weight_of(name, shape) for name, shape in shapes.items()})


def read(name: str, entry: dict):
    """Our model of a configuration and its objective, or why there is none."""
    family, tensors = family_of(name), tensors_of(entry)
    try:
        model = family.of_tensors(family.read_model(config_of(name, entry)), tensors)
    except InteropError as error:
        return str(error)
    return model, family.objective(tensors), family.plain(config_of(name, entry))["vocab_size"]


def answer_of(entry: dict) -> np.ndarray:
    return golden()["arrays"][f"answer/{entry['answer']}"]


def ours(name: str, entry: dict, folder) -> np.ndarray:
    """Returns the losses and states of our model with the weights of the walk."""
    shape, objective, vocabulary = read(name, entry)
    tensors = opened(folder / "tensors", dict(tensors_of(entry)))
    recipe = references.REFERENCES.get(name)
    objective = recipe.objective if recipe and name != "electra" else objective
    family = family_of(name)
    model = PretrainingModel(model=shape, objective=objective, vocabulary_size=vocabulary, dtype="float32")
    model.build()
    variables = weights_by_path(model)
    incoming = incoming_weights(specs_of(variables), _Recipe(shape, objective), family, tensors)
    for path, weight in incoming.weights:
        variables[path].assign(weight)
    features = features_of(name)
    states = models_parity_test.states_of(model.backbone, features)["hidden/last"]
    real = features.get("decoder_document_ids", features["document_ids"]) > 0
    found = keras.ops.convert_to_numpy(states)[real][::3, :3].reshape(-1)
    if name in STATES_ALONE:
        return found
    if incoming.read.reason:
        # Theirs has another head, which the import reports.
        return np.array([*answer_of(entry)[: len(objective.losses)], *found], "float32")
    assert not incoming.read.fresh
    weights = dict.fromkeys(objective.losses, 1.0)
    losses = total_loss(example_sums(model(references.features_of(name))), weights)
    return np.array([*(float(losses[f"{each}_loss"]) for each in objective.losses), *found], "float32")


class _Recipe:
    def __init__(self, model, goal):
        self.model, self.goal = model, goal


def features_of(name: str) -> dict:
    if name != "xlnet":
        return models_parity_test.features_of(name)
    given = references.read_golden(name)
    ids, mask = given["input/input_ids"], given["input/attention_mask"]
    features = references._stack(ids, mask) | {"segment_ids": given["input/token_type_ids"]}
    return {key: np.asarray(value, "int32") for key, value in features.items()}


@names
def test_every_key_of_the_classes_is_known(name):
    walked, family = golden()["models"][name], family_of(name)
    known = family.keys.known(family.field_keys)
    unknown = sorted(set(walked["keys"]) - known)
    # That another release or another family reads, which are refused.
    assert not [key for key in unknown if not any(entry["key"] == key for entry in walked["walked"])]
    assert dict(family.keys.names) == walked["attribute_map"]


# As they are published, with what older releases wrote.
PUBLISHED = {
    "bert": {
        "classifier_dropout": None,
        "directionality": "bidi",
        "gradient_checkpointing": False,
        "pooler_fc_size": 768,
        "pooler_type": "first_token_transform",
        "position_embedding_type": "absolute",
        "output_past": True,
        "use_cache": True,
    },
    "llama": {
        "is_llama_config": True,
        "pretraining_tp": 1,
        "rope_interleaved": False,
        "rope_scaling": None,
        "rope_theta": 100000,
        "torch_dtype": "bfloat16",
        "transformers.js_config": {"dtype": "q4"},
    },
    "gpt2": {"n_ctx": 1024, "summary_proj_to_labels": True, "task_specific_params": {"a": {"max_length": 5}}},
    "t5": {"n_positions": 512, "dense_act_fn": "relu", "is_gated_act": False, "output_past": True},
    "bart": {
        "_num_labels": 3,
        "add_final_layer_norm": False,
        "classif_dropout": 0.1,
        "early_stopping": True,
        "encoder_layers": 12,
        "extra_pos_embeddings": 2,
        "forced_bos_token_id": 0,
        "normalize_before": False,
        "normalize_embedding": True,
        "num_beams": 4,
        "num_hidden_layers": 12,
        "static_position_embeddings": False,
    },
    "albert": {
        "down_scale_factor": 1,
        "gap_size": 0,
        "layers_to_keep": [],
        "net_structure_type": 0,
        "num_memory_blocks": 0,
    },
    "xlnet": {"d_head": 64, "end_n_top": 5, "mem_len": None, "untie_r": True, "bi_data": False},
    "distilbert": {"pruned_heads": {}, "tie_weights_": True, "sinusoidal_pos_embds": False},
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_configurations_are_read(name):
    FAMILIES[name].read_model({"vocab_size": 40, **PUBLISHED[name]})


def test_keys_of_generation_are_known():
    assert set(golden()["generation"]) - GENERATION == {"use_cache"}


@pytest.mark.parametrize("name", often(NAMES, ["bert", "deberta", "xlnet", "t5"]))
def test_a_key_with_another_value_is_refused_or_changes_nothing(name):
    """Where our model is the same, so is theirs; the test of the models builds the others."""
    whole, *walked = golden()["models"][name]["walked"]
    plain = read(name, whole)
    wrong = []
    for entry in walked:
        found = read(name, entry)
        if isinstance(found, str):
            key = family_of(name).keys.names.get(entry["key"], entry["key"])
            if not {entry["key"], key} & {*found.replace(":", " ").replace(".", " ").split()}:
                wrong.append(f"{entry['with']} is refused without its name: {found}")
        elif found == plain and not np.allclose(answer_of(entry), answer_of(whole), atol=1e-5):
            wrong.append(f"{entry['with']} without {entry['without']} is ignored")
    assert not wrong, "\n".join(wrong)


@pytest.mark.repeated
@names
def test_models_are_those_of_transformers(name, tmp_path):
    whole, *walked = golden()["models"][name]["walked"]
    plain = read(name, whole)
    built, wrong = [], []
    for entry in (whole, *walked):
        found = read(name, entry)
        if isinstance(found, str) or (entry is not whole and found == plain) or found in built:
            continue
        built.append(found)
        try:
            np.testing.assert_allclose(ours(name, entry, tmp_path), answer_of(entry), **CLOSE)
        except InteropError as error:
            # A table that is tied here and not there, by the names of the tensors.
            assert "is tied here" in str(error)
        except AssertionError as error:
            wrong.append(f"{entry['with']} without {entry['without']}: {error}")
    assert not wrong, "\n".join(wrong)
