"""The signature `attention` gives the probabilities of the weights of a layer and a head."""

import numpy as np
import pytest
import tensorflow as tf

from firth.recipes import load_recipe
from firth.recipes.base.errors import RecipeError
from firth.serving.attention import attention
from firth.serving.served_model import Served
from firth.serving.signatures import text_signatures
from tests.exported_model import RECIPE, make_served
from tests.serving.served_texts import features_of

LAYERS, HEADS, LENGTH = 2, 2, 6
PIECES = ["[CLS]", "the", "cat", "##s", "sat", "[SEP]"]


@pytest.fixture(scope="module")
def served() -> Served:
    model = RECIPE.model.model_copy(update={"layers": LAYERS})
    return make_served(RECIPE.model_copy(update={"model": model}))


def ask(served, texts, layers, heads):
    numbers = (tf.constant(each, tf.int32) for each in (layers, heads))
    found = attention(served, tf.constant(texts, tf.string), *numbers)
    return {name: value.numpy() for name, value in found.items()}


def by_hand(block, hidden):
    """Returns the softmax of a BERT block's scaled products, [heads, length, length]."""
    layer, width = block.attention, block.attention.head_width
    joined = HEADS * width
    projected = hidden @ np.array(layer.kernel) + np.array(layer.bias)
    query, key = (
        projected[:, begin : begin + joined].reshape(-1, HEADS, width).transpose(1, 0, 2)
        for begin in (0, joined)
    )
    scores = np.exp(query @ key.transpose(0, 2, 1) / np.sqrt(width))
    return scores / scores.sum(axis=-1, keepdims=True)


def test_probabilities_are_those_of_the_weights(served):
    """Next to a longer text, so that there is padding."""
    features = features_of(PIECES, length=LENGTH)
    backbone = served.model.backbone
    hidden = backbone.embeddings(
        backbone.token_embedding(features["token_ids"]),
        features["position_ids"],
        segment_ids=features["segment_ids"],
        training=False,
    )
    for layer, block in enumerate(backbone.encoder.blocks):
        expected = by_hand(block, np.array(hidden)[0])
        for head in range(HEADS):
            found = ask(served, ["the cats sat", "z " * 10], [layer, 0], [head, 1])
            assert found["token_count"].tolist() == [LENGTH, 12]
            assert [each.decode() for each in found["pieces"][0] if each] == PIECES
            shares = found["attention"][0]
            np.testing.assert_allclose(shares[:LENGTH, :LENGTH], expected[head], rtol=1e-4, atol=1e-6)
            np.testing.assert_allclose(shares[:LENGTH].sum(axis=-1), 1, rtol=1e-5)
            assert not shares[LENGTH:].any() and not shares[:, LENGTH:].any()
        hidden = block(hidden, np.zeros((1, 1, LENGTH, LENGTH), "float32"))


@pytest.mark.parametrize("layer, head, named", [(LAYERS, 0, "layer"), (0, HEADS, "head"), (-1, 0, "layer")])
def test_number_that_the_model_lacks_is_refused(served, layer, head, named):
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"{named}: must be at least 0 and at most"):
        ask(served, ["the"], [layer], [head])


def test_signature_is_there_by_choice():
    assert "attention" not in text_signatures(RECIPE)
    asked = RECIPE.export.model_copy(update={"attention": True})
    offered = text_signatures(RECIPE.model_copy(update={"export": asked}))
    assert list(offered)[-1] == "attention"
    assert {name: each.most for name, each in offered["attention"].parameters.items()} == {
        "layer": 0,
        "head": 1,
    }


@pytest.mark.parametrize(
    ("preset", "others", "named"),
    [
        ("xlnet_tiny", [], "model.kind"),
        ("elmo_tiny", [], "model.kind"),
        ("llama_tiny", ["sequences.length=1025"], "sequences.length: 1,025"),
    ],
)
def test_model_without_such_attention_is_refused(preset, others, named):
    with pytest.raises(RecipeError, match=rf"export\.attention: true does not work for {named}"):
        load_recipe(preset, ["export.attention=true", *others])


def test_engine_that_keeps_nothing_is_refused(served, monkeypatch):
    monkeypatch.setattr(Served, "encoder_states", lambda *_: None)
    with pytest.raises(ValueError, match="engine: keras"):
        ask(served, ["the"], [0], [0])
