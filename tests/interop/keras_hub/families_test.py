"""Configurations and weights of each family, both ways, next to KerasHub in the same process."""

import keras
import numpy as np
import pytest

from firth.interop.keras_hub.exporting import family_of
from firth.interop.keras_hub.families import FAMILIES
from firth.interop.keras_hub.importing import incoming_weights
from firth.interop.keras_hub.preset import arrays_of, by_name
from firth.models import build_model
from firth.models.bundle import weights_by_path
from firth.recipes import load_recipe
from tests.interop.keras_hub import tiny
from tests.repeating import often

NO_SHAPE = {"name", "trainable", "dtype", "vocabulary_size", "vocab_size"}
# What KerasHub has and ours has not: a pooler without an objective that trains it.
SURPLUS = {"electra": ["pooled_dense/kernel", "pooled_dense/bias"]}


# Backbones that differ in kind.
FEW = ("bert", "albert", "deberta_v3", "xlnet", "llama_3", "t5_1_1", "bart")


@pytest.fixture(scope="module", params=often(tiny.BACKBONES, FEW))
def read(request):
    """KerasHub's backbone, and ours with its weights."""
    theirs = tiny.backbone(request.param)
    family = FAMILIES[type(theirs).__name__]
    config = {**theirs.get_config(), **tiny.unwritten(request.param)}
    recipe = load_recipe("bert_tiny", [f"tokenizer.vocabulary_size={tiny.VOCABULARY}"])
    recipe = recipe.model_copy(update={"model": family.read_model(config), "objective": family.objective})
    model = build_model(recipe, "float32")
    rules = family.rules(recipe.model, recipe.goal)
    variables = weights_by_path(model)
    incoming = incoming_weights(variables, rules, arrays_of(by_name(theirs.weights)))
    for path, weight in incoming.weights:
        variables[path].assign(weight)
    return request.param, theirs, recipe, model, incoming.read


def test_hidden_states_are_those_of_keras_hub(read):
    name, theirs, _, model, _ = read
    # KerasHub's XLNet reshapes where it should transpose, so that it reads one text at a time.
    given = tiny.features(rows=1 if name == "xlnet" else 2)
    expected = theirs(tiny.their_inputs(given, theirs.input))
    outputs = expected if isinstance(expected, dict) else {"sequence_output": expected}
    if "encoder_sequence_output" in outputs:
        close(model.backbone.encode(given), outputs["encoder_sequence_output"], given["document_ids"])
        close(model.backbone(given), outputs["decoder_sequence_output"], given["decoder_document_ids"])
    else:
        close(model.backbone(given), outputs["sequence_output"], given["document_ids"])


def close(found, expected, real):
    found, expected = (keras.ops.convert_to_numpy(each)[real > 0] for each in (found, expected))
    assert np.abs(expected).max() > 0.1
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4)


def test_weights_go_out_as_they_came_in(read):
    name, theirs, recipe, model, told = read
    given, ours = arrays_of(by_name(theirs.weights)), arrays_of(weights_by_path(model))
    written = {}
    for rule in FAMILIES[type(theirs).__name__].rules(recipe.model, recipe.goal):
        written |= dict(zip(rule.theirs, rule.write(ours[rule.ours]), strict=True))
    assert list(told.surplus) == SURPLUS.get(name, []) and written.keys() | set(told.surplus) == given.keys()
    for key, tensor in written.items():
        np.testing.assert_array_equal(tensor, given[key], err_msg=key)
    assert {path.split("/")[0] for path in told.fresh} <= {"heads"}


def test_a_configuration_is_written_back(read):
    name, theirs, recipe, _, _ = read
    family = family_of(recipe)
    # The two Llamas differ by their tokenizers alone.
    assert family.backbone.replace("3", "") == type(theirs).__name__.replace("3", "")
    given = {**theirs.get_config(), **tiny.unwritten(name)}
    written = family.write_config(recipe.model)
    for key, value in written.items():
        assert given.get(key) in (None, value) or callable(value), key
    assert written.keys() >= given.keys() - NO_SHAPE - {key for key, value in given.items() if value is None}


def test_every_backbone_is_tried():
    assert {kind for kind, _ in tiny.BACKBONES.values()} == FAMILIES.keys()
