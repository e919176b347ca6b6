"""XLNet's backbone with its head: what the checklist of all models does not ask of the query stream."""

import keras
import numpy as np
import pytest

from firth.models import example_sums, total_loss
from firth.models.backbones.two_stream_transformer import TwoStreamTransformerBackbone
from firth.models.objective_heads.permutation_lm import PermutationLMHeads
from firth.recipes.models import blocks
from firth.recipes.models.two_stream_transformer import TwoStreamTransformerConfig
from firth.recipes.objectives.language_models import PermutationLM
from tests.backends.gradients import compiled, compiled_where_it_pays, gradients

VOCABULARY, LENGTH, BATCH = 23, 12, 3
MODEL = TwoStreamTransformerConfig(
    layers=2,
    width=16,
    attention=blocks.AttentionConfig(heads=4),
    feed_forward=blocks.FeedForwardConfig(width=24),
    initializer_stddev=0.2,
)


class Model(keras.Model):
    """The backbone and the head, as a pre-training model has them."""

    def __init__(self, dtype=None, seed=1):
        super().__init__(dtype=dtype)
        self.backbone = TwoStreamTransformerBackbone(VOCABULARY, MODEL, seed=seed, dtype=self.dtype_policy)
        self.heads = PermutationLMHeads(MODEL, PermutationLM(), VOCABULARY, dtype=self.dtype_policy)
        self.backbone.build()
        self.heads.build()
        self.built = True

    def call(self, features, training=None):
        return self.heads.predictions(self.backbone, features, training=training)


def make_features() -> dict[str, np.ndarray]:
    """Rows of two documents, of 7 and 4 tokens, and one token of padding; the last prediction is padding."""
    generator = np.random.default_rng(0)
    documents = np.tile(np.repeat([1, 2, 0], [7, 4, 1]), (BATCH, 1))
    order = np.zeros((BATCH, LENGTH))
    order[:, [2, 4, 8]] = [[1, 2, 1], [2, 1, 1], [1, 2, 1]]
    ids = {
        "token_ids": generator.integers(1, VOCABULARY, (BATCH, LENGTH)) * (documents > 0),
        "segment_ids": generator.integers(0, 2, (BATCH, LENGTH)) * (documents > 0),
        "document_ids": documents,
        "attention_order": order,
        "masked_positions": np.tile([2, 4, 8, 0], (BATCH, 1)),
        "masked_labels": generator.integers(1, VOCABULARY, (BATCH, 4)),
    }
    weights = np.tile([1.0, 1.0, 1.0, 0.0], (BATCH, 1)).astype("float32")
    return {**{name: value.astype("int32") for name, value in ids.items()}, "masked_weights": weights}


def numpy(tensor) -> np.ndarray:
    return keras.ops.convert_to_numpy(keras.ops.cast(tensor, "float32"))


def loss_of(model, features):
    return total_loss(example_sums(model(features)), {"lm": 1.0})["loss"]


@pytest.mark.parametrize("policy", ["float32", pytest.param("mixed_bfloat16", marks=pytest.mark.repeated)])
def test_every_weight_gets_a_gradient(policy):
    model, features = Model(policy), make_features()
    found = gradients(model, lambda: loss_of(model, features))
    assert len(found) == len(model.trainable_variables) == 2 + 2 * 16 + 1
    for path, value in found.items():
        assert value is not None and np.isfinite(value).all() and np.abs(value).max() > 0, path


@pytest.mark.parametrize("policy", [pytest.param("float32", marks=pytest.mark.repeated), "mixed_bfloat16"])
def test_shapes_and_dtypes(policy):
    model, features = Model(policy), make_features()
    content, query = model.backbone(features), model.backbone.query_stream(features)
    assert tuple(content.shape) == (BATCH, LENGTH, 16) and tuple(query.shape) == (BATCH, 4, 16)
    for value in (content, query):
        assert keras.backend.standardize_dtype(value.dtype) == policy.removeprefix("mixed_")
    for value in model(features)["lm"]:
        assert keras.backend.standardize_dtype(value.dtype) == "float32" and tuple(value.shape) == (BATCH, 4)


@pytest.mark.repeated
def test_mixed_precision_is_close_to_float32():
    features = make_features()
    exact, mixed = (Model(policy)(features)["lm"].losses for policy in ("float32", "mixed_bfloat16"))
    np.testing.assert_allclose(numpy(mixed)[:, :3], numpy(exact)[:, :3], atol=0.1)


def test_config_round_trip():
    first = Model("mixed_bfloat16", seed=4).backbone
    second = keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(first))
    assert second.get_config() == first.get_config()
    for one, two in zip(first.get_weights(), second.get_weights(), strict=True):
        np.testing.assert_array_equal(one, two)


@pytest.mark.repeated
def test_a_batch_of_one_equals_a_batch_of_many():
    backbone, features = Model().backbone, make_features()
    together = numpy(backbone.query_stream(features))
    for row in range(BATCH):
        alone = {name: value[row : row + 1] for name, value in features.items()}
        np.testing.assert_allclose(numpy(backbone.query_stream(alone))[0], together[row], atol=1e-5)


def test_a_document_alone_equals_the_same_packed():
    backbone, features = Model().backbone, make_features()
    together = numpy(backbone.query_stream(features))
    for place, predictions in ((slice(0, 7), slice(0, 2)), (slice(7, 11), slice(2, 3))):
        rows = ("token_ids", "segment_ids", "document_ids", "attention_order")
        alone = {name: features[name][:, place] for name in rows}
        alone["masked_positions"] = features["masked_positions"][:, predictions] - place.start
        found = numpy(compiled_where_it_pays(backbone.query_stream)(alone))
        np.testing.assert_allclose(found, together[:, predictions], atol=1e-5)


def test_predictions_follow_from_tokens_before_them_alone():
    """A predicted token, and what comes after it in the order, may change without a change of its loss."""
    model, features = Model(), make_features()
    before = numpy(model(features)["lm"].losses)
    for place in range(LENGTH):
        changed = features["token_ids"].copy()
        changed[:, place] = changed[:, place] % (VOCABULARY - 1) + 1
        after = numpy(model({**features, "token_ids": changed})["lm"].losses)
        for prediction, position in enumerate((2, 4, 8)):
            same = features["document_ids"][:, place] == features["document_ids"][:, position]
            order = features["attention_order"]
            expected = same & (order[:, place] < order[:, position])
            np.testing.assert_array_equal(after[:, prediction] != before[:, prediction], expected)


def test_compiled_equals_eager():
    model, features = Model(), make_features()
    found = compiled(lambda batch: model(batch)["lm"].losses)(features)
    np.testing.assert_allclose(numpy(found), numpy(model(features)["lm"].losses), atol=1e-5)


@pytest.mark.repeated
def test_dropout_follows_from_the_seed_state():
    model, features = Model(), make_features()
    state = model.backbone.seed_generator.state
    assert sum(not variable.trainable for variable in model.variables) == 1
    start, outputs = keras.ops.convert_to_numpy(state.value), []
    for _ in range(2):
        state.assign(start)
        outputs.append([numpy(model(features, training=True)["lm"].losses) for _ in range(2)])
    np.testing.assert_array_equal(outputs[0], outputs[1])
    assert not np.array_equal(outputs[0][0], outputs[0][1])
