"""The heads of each objective: their parts, and the values and gradients that must not reach a loss."""

import functools
from types import SimpleNamespace

import keras
import numpy as np
import pytest

from firth import features as names
from firth.models import PretrainingModel, example_sums, total_loss
from firth.models.objective_heads.language_model import LanguageModelHeads
from firth.models.objective_heads.replaced_token_detection import ReplacedTokenDetectionHeads
from firth.models.objective_heads.span_masking import SpanMaskingHeads
from firth.recipes.models import blocks
from firth.recipes.models.transformers import (
    CausalTransformerConfig,
    EncoderDecoderConfig,
    MaskedTransformerConfig,
)
from firth.recipes.objectives.language_models import CausalLM
from firth.recipes.objectives.masking import ReplacedTokenDetection, SpanMasking
from tests.backends.gradients import compiled, gradients
from tests.models.table import TRAINED, VOCABULARY, shape_of, training_features
from tests.repeating import often

BATCH, LENGTH, WIDTH, NARROW = 2, 5, 8, 4
SHAPE = {"layers": 1, "width": WIDTH, "attention": blocks.AttentionConfig(heads=2), "initializer_stddev": 0.5}
RANDOM = np.random.default_rng(0)
HIDDEN = RANDOM.normal(size=(BATCH, LENGTH, WIDTH)).astype("float32")
# The first two have the heads of span corruption, and differ from it in their data; the last has those of
# another objective on another backbone.
LEFT_OUT = ("iid_denoising", "salient_spans", "causal_lm, table of its own")
# Heads that are those of another case, on another backbone or with other features.
OF_OTHERS = (
    "unilm",
    "prefix_lm",
    "span_corruption",
    "denoising",
    "masked_lm",
    "masked_lm, mask decoder",
    "replaced_token_detection, mask decoder",
)
NAMES = [name for name in TRAINED if name not in LEFT_OUT]
cases = pytest.mark.parametrize("name", often(NAMES, {*NAMES} - {*OF_OTHERS}))


class Backbone:
    """Replaces a backbone: given hidden states, and a token table."""

    def __init__(self, width=WIDTH, hidden=HIDDEN):
        table = np.random.default_rng(1).normal(size=(VOCABULARY, width)).astype("float32")
        self.token_embedding = SimpleNamespace(table=keras.ops.convert_to_tensor(table))
        self.table, self.hidden = table, hidden

    def __call__(self, features, training=None):
        return keras.ops.convert_to_tensor(self.hidden)


def make(heads, model, objective):
    made = heads(
        model,
        objective,
        VOCABULARY,
        seed=keras.random.SeedGenerator(1),
        name="heads",
    )
    made.build()
    return made


def build(name) -> PretrainingModel:
    made = PretrainingModel(shape_of(name), TRAINED[name][1], VOCABULARY, seed=1, dtype="float32")
    made.build()
    return made


@functools.cache
def built(name) -> PretrainingModel:
    """A model for tests that leave it as it is."""
    return build(name)


def numpy(tensor) -> np.ndarray:
    return keras.ops.convert_to_numpy(tensor)


def weights_of(layer) -> dict[str, np.ndarray]:
    return {weight.path.split("/", 1)[-1]: numpy(weight.value) for weight in layer.trainable_variables}


def cross_entropy(logits, labels):
    shifted = logits - logits.max(-1, keepdims=True)
    log_probabilities = shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))
    return -np.take_along_axis(log_probabilities, labels[..., None], -1)[..., 0]


def gelu_and_norm(rows, gamma, beta):
    rows = numpy(keras.activations.gelu(rows, approximate=False))
    rows = rows - rows.mean(-1, keepdims=True)
    return rows / np.sqrt((rows**2).mean(-1, keepdims=True) + 1e-12) * gamma + beta


@cases
def test_without_weights_there_is_no_loss_and_no_gradient(name):
    model, features = built(name), training_features(name)
    for key in features:
        if key.endswith("weights"):
            features[key] = np.zeros_like(features[key])
    # All tokens of a row are asked whether they were replaced.
    losses = {key: value for key, value in TRAINED[name][1].losses.items() if key != "rtd"}
    found = gradients(model, lambda: total_loss(example_sums(model(features, training=True)), losses)["loss"])
    sums = example_sums(model(features))
    for path, value in found.items():
        assert value is None or not np.abs(value).max(), path
    for key in losses:
        for part in names.PARTS_OF_LOSS:
            np.testing.assert_array_equal(numpy(sums[f"{key}_{part}"]), 0.0)


@cases
def test_labels_without_weight_do_not_matter(name):
    model, features = built(name), training_features(name)
    before = example_sums(model(features))
    changed = 0
    for key in [key for key in features if key.endswith("weights")]:
        labels = key.replace("weights", "ids" if key.startswith(("label", "backward")) else "labels")
        away = features[key] == 0
        changed += away.sum()
        below = VOCABULARY if features[labels].max() > 1 else 2
        features[labels] = np.where(away, (features[labels] + 1) % below, features[labels])
    assert changed
    for key, value in example_sums(model(features)).items():
        np.testing.assert_allclose(numpy(value), numpy(before[key]), rtol=1e-6, err_msg=key)


# Language models


def language_model(**parts):
    model = CausalTransformerConfig(**SHAPE, **parts)
    return make(LanguageModelHeads, model, CausalLM())


def label_features():
    labels = np.random.default_rng(2).integers(0, VOCABULARY, (BATCH, LENGTH)).astype("int32")
    weights = np.array([[1, 1, 1, 0, 0], [0, 1, 1, 1, 1]], "float32")
    return {names.LABEL_IDS: labels, names.LABEL_WEIGHTS: weights}


def check_logits(heads, backbone, logits):
    """Compares what the heads predict and say of the next token with logits made by hand."""
    features = label_features()
    losses = cross_entropy(logits, features[names.LABEL_IDS]) * (features[names.LABEL_WEIGHTS] > 0)
    for training in (False, True):
        made = heads.predictions(backbone, features, training=training)["lm"]
        np.testing.assert_allclose(numpy(made.losses), losses, atol=1e-5)
        np.testing.assert_array_equal(numpy(made.weights), features[names.LABEL_WEIGHTS])
    np.testing.assert_allclose(numpy(heads.project(backbone, HIDDEN[:, -1])), logits[:, -1], atol=1e-5)


def test_the_tied_output_is_the_token_table():
    heads, backbone = language_model(), Backbone()
    assert not heads.trainable_variables
    check_logits(heads, backbone, HIDDEN @ backbone.table.T)


def test_a_table_of_its_own():
    heads = language_model(tied_output=False)
    ((path, table),) = weights_of(heads).items()
    assert path.endswith("table") and table.shape == (VOCABULARY, WIDTH)
    check_logits(heads, Backbone(), HIDDEN @ table.T)


def test_factorised_embeddings_project_back():
    heads, backbone = language_model(embeddings=blocks.EmbeddingsConfig(width=NARROW)), Backbone(NARROW)
    ((_, kernel),) = weights_of(heads).items()
    check_logits(heads, backbone, HIDDEN @ kernel @ backbone.table.T)


@pytest.mark.parametrize("tied", [True, False])
def test_a_tied_output_is_scaled_and_one_of_its_own_is_not(tied):
    """T5 divides by the root of the width, T5 1.1 does not."""
    model = EncoderDecoderConfig(**SHAPE, tied_output=tied, scaled_output=True)
    heads, backbone = make(LanguageModelHeads, model, CausalLM()), Backbone()
    table = backbone.table * WIDTH**-0.5 if tied else next(iter(weights_of(heads).values()))
    check_logits(heads, backbone, HIDDEN @ table.T)


@pytest.mark.parametrize(
    "name",
    often(
        ["causal_lm", "causal_lm, table of its own", "span_corruption", "denoising"],
        ["denoising"],
    ),
)
def test_a_prediction_is_blind_to_what_comes_later(name):
    model, features = built(name), training_features(name)
    features[names.LABEL_WEIGHTS] = np.ones_like(features[names.LABEL_WEIGHTS])
    key = names.DECODER_TOKEN_IDS if names.DECODER_TOKEN_IDS in features else names.TOKEN_IDS
    run = compiled(lambda batch: model(batch)["lm"].losses)
    before = numpy(run(features))
    for place in range(1, before.shape[1]):
        changed = {**features, key: features[key].copy()}
        changed[key][:, place] = changed[key][:, place] % (VOCABULARY - 1) + 1
        differs = numpy(run(changed)) != before
        assert not differs[:, :place].any() and differs[:, place].all(), place


# Span masking


def span_features():
    """A span of two at 2 and 3, and nothing else."""
    values = {
        names.MASKED_POSITIONS: [2, 3, 0],
        names.MASKED_LABELS: [7, 9, 0],
        names.MASKED_WEIGHTS: [1, 1, 0],
        names.BOUNDARY_LEFT: [1, 1, 0],
        names.BOUNDARY_RIGHT: [4, 4, 0],
        names.BOUNDARY_OFFSETS: [1, 2, 0],
    }
    return {
        key: np.tile(np.array(value, "float32" if "weights" in key else "int32"), (BATCH, 1))
        for key, value in values.items()
    }


def test_spans_by_hand():
    heads, backbone = (
        make(SpanMaskingHeads, MaskedTransformerConfig(**SHAPE), SpanMasking(max_span=3)),
        Backbone(),
    )
    for weight in heads.trainable_variables:
        weight.assign(np.random.default_rng(len(weight.path)).normal(size=weight.shape))
    features, weights = span_features(), weights_of(heads)
    by_name = {path.split("span_boundary_head/")[-1]: value for path, value in weights.items()}
    places = by_name["place/table"][[0, 1]]
    around = np.concatenate([HIDDEN[:, 1], HIDDEN[:, 4]], axis=-1)
    rows = np.stack([np.concatenate([around, np.tile(place, (BATCH, 1))], axis=-1) for place in places], 1)
    for layer in ("first", "second"):
        rows = rows @ by_name[f"{layer}/kernel"] + by_name[f"{layer}/bias"]
        rows = gelu_and_norm(rows, by_name[f"{layer}_norm/gamma"], by_name[f"{layer}_norm/beta"])
    logits = rows @ backbone.table.T + by_name["bias"]
    made = heads.predictions(backbone, features)
    expected = cross_entropy(logits, features[names.MASKED_LABELS][:, :2])
    np.testing.assert_allclose(numpy(made["sbo"].losses)[:, :2], expected, rtol=1e-4, atol=1e-4)
    for part in made["sbo"].weights, made["mlm"].weights:
        np.testing.assert_array_equal(numpy(part), features[names.MASKED_WEIGHTS])


def test_the_boundary_objective_leaves_out_what_has_no_place():
    heads = make(SpanMaskingHeads, MaskedTransformerConfig(**SHAPE), SpanMasking(boundary_places=1))
    assert heads.span_boundary_head.places == 1
    features = span_features()
    features[names.BOUNDARY_OFFSETS][:, 1] = 0
    made = heads.predictions(Backbone(), features)
    np.testing.assert_array_equal(numpy(made["sbo"].weights), np.tile([1.0, 0.0, 0.0], (BATCH, 1)))
    np.testing.assert_array_equal(numpy(made["mlm"].weights), features[names.MASKED_WEIGHTS])


def test_the_boundary_objective_sees_the_tokens_around_a_span_and_masked_lm_those_in_it():
    heads = make(SpanMaskingHeads, MaskedTransformerConfig(**SHAPE), SpanMasking(max_span=3))
    before = heads.predictions(Backbone(), span_features())
    for place, changed in {0: [], 1: ["sbo"], 2: ["mlm"], 3: ["mlm"], 4: ["sbo"]}.items():
        hidden = HIDDEN.copy()
        hidden[:, place] += 1.0 + np.arange(WIDTH)
        after = heads.predictions(Backbone(hidden=hidden), span_features())
        differs = [
            name for name in before if (numpy(after[name].losses) != numpy(before[name].losses))[:, :2].any()
        ]
        assert sorted(differs) == changed, place


# Replaced token detection


def electra():
    return build("replaced_token_detection"), training_features("replaced_token_detection")


def samples(model, features, tokens):
    """Makes the generator's samples those given."""
    model.heads.sample = lambda logits, features, training=None: keras.ops.convert_to_tensor(tokens)
    return model(features)["rtd"]


def test_a_sample_that_is_the_original_counts_as_original():
    model, features = electra()
    labels, positions = features[names.MASKED_LABELS], features[names.MASKED_POSITIONS]
    lucky = numpy(samples(model, features, labels).losses)
    # With the originals in their places the discriminator reads the text as it was, and nothing is replaced.
    text = features[names.TOKEN_IDS].copy()
    for place in range(2):
        np.put_along_axis(text, positions[:, place : place + 1], labels[:, place : place + 1], axis=1)
    hidden = model.backbone({**features, names.TOKEN_IDS: text})
    logits = model.heads.decision(keras.activations.gelu(model.heads.dense(hidden), approximate=False))
    logits = numpy(logits)[..., 0]
    np.testing.assert_allclose(lucky, np.log1p(np.exp(logits)), rtol=1e-4, atol=1e-5)


def test_a_sample_that_is_another_token_counts_as_replaced_and_is_what_is_read():
    model, features = electra()
    others = features[names.MASKED_LABELS] % (VOCABULARY - 1) + 1
    found = samples(model, features, others)
    text, is_replaced = features[names.TOKEN_IDS].copy(), np.zeros(features[names.TOKEN_IDS].shape, bool)
    for place in range(2):
        where = features[names.MASKED_POSITIONS][:, place : place + 1]
        np.put_along_axis(text, where, others[:, place : place + 1], axis=1)
        np.put_along_axis(is_replaced, where, True, axis=1)
    hidden = model.backbone({**features, names.TOKEN_IDS: text})
    logits = model.heads.decision(keras.activations.gelu(model.heads.dense(hidden), approximate=False))
    logits = numpy(logits)[..., 0]
    np.testing.assert_allclose(
        numpy(found.losses), np.log1p(np.exp(np.where(is_replaced, -logits, logits))), rtol=1e-4, atol=1e-5
    )
    np.testing.assert_array_equal(numpy(found.correct), (logits > 0) == is_replaced)


def test_the_discriminator_is_asked_about_all_tokens_but_padding():
    model, features = electra()
    is_token = features[names.DOCUMENT_IDS] > 0
    assert 0 < is_token.sum() < is_token.size
    np.testing.assert_array_equal(numpy(model(features)["rtd"].weights), is_token)


def gradients_of(losses) -> dict[str, float]:
    model, features = electra()
    found = gradients(model, lambda: total_loss(example_sums(model(features)), losses)["loss"])
    sizes = {
        path.split("/", 1)[1]: 0.0 if value is None else np.abs(value).max() for path, value in found.items()
    }
    return {
        part: max(size for path, size in sizes.items() if path.startswith(part))
        for part in (
            "heads/generator",
            "heads/masked_lm_head",
            "backbone/encoder",
            "heads/dense",
            "backbone/token",
        )
    }


def test_both_losses_are_minimised_and_none_goes_through_the_samples():
    both, generator, discriminator = (
        gradients_of(losses) for losses in (ReplacedTokenDetection().losses, {"mlm": 1.0}, {"rtd": 50.0})
    )
    assert all(both.values())
    assert {part for part, size in generator.items() if not size} == {"backbone/encoder", "heads/dense"}
    assert {part for part, size in discriminator.items() if not size} == {
        "heads/generator",
        "heads/masked_lm_head",
    }


@pytest.mark.parametrize("vocabulary", often([5, 300], [300]))
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("temperature", [1.0, 0.5])
def test_samples_follow_the_generator_s_distribution(vocabulary, training, temperature):
    objective = ReplacedTokenDetection(temperature=temperature, generator_width_fraction=1.0)
    heads = make(ReplacedTokenDetectionHeads, MaskedTransformerConfig(**SHAPE), objective)
    count, logits = 4000, np.full(vocabulary, -40.0, "float32")
    logits[[0, 1, 2, vocabulary // 2, -1]] = [0.0, 1.0, -1.0, 0.5, 0.7]
    features = {
        names.TOKEN_IDS: np.arange(LENGTH, dtype="int32")[None],
        names.MASKED_POSITIONS: np.arange(count, dtype="int32")[None],
    }
    drawn = numpy(heads.sample(np.tile(logits, (1, count, 1)), features, training=training))
    expected = np.exp(logits / temperature) / np.exp(logits / temperature).sum()
    np.testing.assert_allclose(np.bincount(drawn[0], minlength=vocabulary) / count, expected, atol=0.03)


def test_samples_change_in_training_and_stay_in_evaluation():
    model, features = electra()
    logits = np.zeros((*features[names.MASKED_POSITIONS].shape, 10_000), "float32")
    drawn = [
        numpy(model.heads.sample(logits, features, training=training))
        for training in (True, True, False, False)
    ]
    assert not np.array_equal(drawn[0], drawn[1])
    np.testing.assert_array_equal(drawn[2], drawn[3])
    assert len(np.unique(drawn[2])) == drawn[2].size, "rows and positions draw different tokens"
