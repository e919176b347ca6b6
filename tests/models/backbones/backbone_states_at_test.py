"""The states at some places, which the last block makes alone, against those of the whole row."""

import keras
import numpy as np
import pytest

from firth.models import build_backbone
from firth.recipes.models import blocks, positions
from firth.recipes.models.transformers import MaskedTransformerConfig
from tests.backends.gradients import gradients
from tests.models.table import BATCH, LENGTH, MODELS, PRE_NORM, SHAPE, VOCABULARY, make_features
from tests.repeating import often

PLACES = np.array([[0, 7, 7], [3, 0, 11], [2, 8, 10]], "int32")[:BATCH]
# Distances in the bias of each head, heads that share keys, and no biases.
RELATED = MaskedTransformerConfig(
    **{**SHAPE, "attention": blocks.AttentionConfig(heads=4, key_value_heads=2)},
    positions=positions.RelativeBucketsConfig(buckets=8, max_distance=9),
    norm=PRE_NORM,
    biases=False,
    embeddings=blocks.EmbeddingsConfig(),
)
CASES = {"related": RELATED, **{name: MODELS[name] for name in ("bert", "deberta", "gpt2")}}
# Whose last block makes the states at those places alone.
SPARING = ("related", "bert")


@pytest.mark.parametrize("name", often(CASES, ["related", "deberta"]))
def test_states_and_gradients_are_those_of_the_whole_row(name):
    backbone = build_backbone(CASES[name], VOCABULARY, seed=1)
    features = make_features(name)

    def whole():
        return backbone(features)

    def some():
        return backbone.states_at(features, PLACES)

    expected = np.take_along_axis(np.array(whole()), PLACES[..., None], axis=1)
    np.testing.assert_allclose(np.array(some()), expected, atol=2e-6)

    weights = np.random.default_rng(0).normal(size=expected.shape).astype("float32")
    spread = np.zeros((BATCH, LENGTH, expected.shape[-1]), "float32")
    for row, places in enumerate(PLACES):
        np.add.at(spread[row], places, weights[row])
    of_some = gradients(backbone, lambda: keras.ops.sum(some() * weights))
    of_whole = gradients(backbone, lambda: keras.ops.sum(whole() * spread))
    for path, value in of_whole.items():
        np.testing.assert_allclose(of_some[path], value, atol=2e-5, err_msg=path)


@pytest.mark.parametrize("name", SPARING)
def test_the_last_block_makes_no_others(name, monkeypatch):
    backbone = build_backbone(CASES[name], VOCABULARY, seed=1)
    features = make_features(name)
    backbone(features)
    layer, seen = backbone.encoder.blocks[-1].feed_forward, []
    call = layer.call
    monkeypatch.setattr(layer, "call", lambda hidden, **options: seen.append(hidden.shape[1]) or call(hidden))
    backbone.states_at(features, PLACES)
    assert seen[-1] == PLACES.shape[1] and set(seen[:-1]) <= {LENGTH}
