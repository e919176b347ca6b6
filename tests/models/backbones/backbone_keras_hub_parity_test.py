"""Parity with KerasHub's backbones, in one process: a second witness next to transformers."""

import numpy as np
import pytest

# Skips before the imports of modules that need KerasHub.
keras_hub = pytest.importorskip("keras_hub", reason="needs KerasHub")

from firth.models import build_backbone  # noqa: E402
from firth.recipes.models import blocks, positions  # noqa: E402
from tests.models import keras_hub_weights, references  # noqa: E402
from tests.models.weights import copy_weights  # noqa: E402
from tests.repeating import often  # noqa: E402

VOCABULARY = references.VOCABULARY
SHAPE = {"vocabulary_size": VOCABULARY, "num_layers": 2, "hidden_dim": 16, "intermediate_dim": 24}
POSITIONS = positions.LearnedPositionsConfig(length=14)


def gpt2():
    theirs = keras_hub.models.GPT2Backbone(**SHAPE, num_heads=4, dropout=0.0, max_sequence_length=14)
    norm = blocks.NormConfig(placement="pre", epsilon=1e-5)
    return theirs, references.gpt2().model_copy(update={"norm": norm})


def llama():
    theirs = keras_hub.models.LlamaBackbone(
        **SHAPE, num_query_heads=4, num_key_value_heads=2, layer_norm_epsilon=references.EPSILON
    )
    return theirs, references.llama(positions.RotaryPositionsConfig())


def bart():
    theirs = keras_hub.models.BartBackbone(**SHAPE, num_heads=4, dropout=0.0, max_sequence_length=14)
    return theirs, references.bart().model_copy(update={"positions": POSITIONS})


MAKERS = {"gpt2": gpt2, "llama": llama, "bart": bart}


def randomise(backbone) -> dict[str, np.ndarray]:
    """Makes biases and norms random too, and returns all weights by path."""
    generator = np.random.default_rng(0)
    for weight in backbone.weights:
        is_scale = weight.path.endswith(("gamma", "scale"))
        weight.assign(generator.normal(size=weight.shape) * 0.3 + is_scale)
    return {weight.path: np.array(weight) for weight in backbone.weights}


def their_inputs(features) -> dict[str, np.ndarray]:
    names = {"token_ids": "token_ids", "padding_mask": "document_ids"}
    if "decoder_token_ids" not in features:
        return {theirs: features[ours] for theirs, ours in names.items()}
    encoder = {f"encoder_{theirs}": features[ours] for theirs, ours in names.items()}
    return encoder | {f"decoder_{theirs}": features[f"decoder_{ours}"] for theirs, ours in names.items()}


@pytest.mark.parametrize("name", often(MAKERS, ["gpt2"]))
def test_hidden_states(name):
    theirs, shape = MAKERS[name]()
    ours = build_backbone(shape, VOCABULARY, dtype="float32")
    copy_weights(ours, getattr(keras_hub_weights, name)(randomise(theirs)))
    features = references.features_of(name)
    expected = theirs(their_inputs(features))
    found, real = np.array(ours(features)), features["document_ids"] > 0
    if isinstance(expected, dict):
        encoded = np.array(expected["encoder_sequence_output"])[real]
        np.testing.assert_allclose(np.array(ours.encode(features))[real], encoded, rtol=0, atol=1e-4)
        expected, real = expected["decoder_sequence_output"], features["decoder_document_ids"] > 0
    np.testing.assert_allclose(found[real], np.array(expected)[real], rtol=0, atol=1e-4)
