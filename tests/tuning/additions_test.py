"""Methods that add something to projections, on every family of backbones."""

import numpy as np
import pytest
import tensorflow as tf

from firth.models import PretrainingModel
from firth.models.bundle import weights_by_path
from firth.recipes.training.optimizers import AdamWConfig
from firth.recipes.tuning import adding
from firth.recipes.tuning.methods import Full
from firth.training.optimizers.optimizer_kinds import build_optimizer
from firth.training.step import build_train_step
from firth.tuning import METHODS, TuningError, merge
from firth.tuning.additions import places_of
from tests.models.table import MODELS, OTHERS, TRAINED, VOCABULARY, training_features
from tests.repeating import often

ALL = ("*",)
AS_WRITTEN = {
    "lora": adding.LoRA(targets=ALL, rank=2),
    "lora, stabilised": adding.LoRA(targets=ALL, rank=2, alpha=3.0, rank_stabilised=True),
    "adalora": adding.AdaLoRA(targets=ALL, initial_rank=2, target_rank=1, alpha=100.0, initial_steps=4),
    "loha": adding.LoHa(targets=ALL, rank=2, alpha=30.0),
    "ia3": adding.IA3(targets=ALL, input_targets=()),
    "ia3, inputs": adding.IA3(targets=(), input_targets=ALL),
}
# Self-attention and that to an encoder, one kernel for three projections and several, gates, shared heads of
# keys and values, shared layers, relative positions that read projections, two streams, LSTMs; with the
# number of projections.
CASES = {
    "masked_lm, order of sentences": 6,
    "masked_lm, mask decoder": 6,
    "permutation_lm": 7,
    "causal_lm, table of its own": 7,
    "iid_denoising": 18,
    "denoising": 16,
    "bidirectional_lm": 6,
}
# One, apart from those that share one place.
LAYERS = {"masked_lm, order of sentences": 2}
# Those that do not merge: an adapter in each block, or two, and in a decoder no third one.
EXTENDING = {
    "houlsby": adding.Houlsby(bottleneck=5),
    "pfeiffer": adding.Pfeiffer(reduction_factor=4.0, activation="gelu"),
}
# Methods after the first one have one case: shared heads of keys and values, gates, no biases.
OF_ALL = "causal_lm, table of its own"
BLOCKS = {
    "masked_lm, order of sentences": 1,
    "masked_lm, mask decoder": 1,
    OF_ALL: 1,
    "denoising": 2,
}
OPTIMIZER = AdamWConfig(learning_rate=0.01, warmup_steps=0, schedule="constant", weight_decay=0.5)


def model_of(case, layers=2):
    name, objective = TRAINED[case]
    shape = {**MODELS, **OTHERS}[name].model_copy(update={"layers": layers})
    model = PretrainingModel(shape, objective, VOCABULARY, seed=1, name="model")
    model.build()
    return model


def prepare(model, method):
    assert METHODS[method.kind](model, method, 1) == {}


def logits_of(model, case) -> np.ndarray:
    found = model.logits(training_features(case))
    return np.concatenate([np.array(each).reshape(-1) for each in found.values()])


def spread_of(model, case) -> float:
    """Returns the largest distance of a logit from the mean of its class, in which no bias has a part."""
    found = [np.array(each) for each in model.logits(training_features(case)).values()]
    rows = [each.reshape(-1, each.shape[-1]) for each in found]
    return max(float(np.abs(each - each.mean(axis=0)).max()) for each in rows)


def draw(model):
    """Gives every weight that was added values that matter, as training does."""
    generator = np.random.default_rng(5)
    for weight in model.added.weights:
        weight.assign(weight + generator.normal(0.0, 0.05, weight.shape))


EACH = ("lora", "adalora", "loha", "ia3", "ia3, inputs")
PAIRS = [(case, method) for method in EACH for case in CASES if method == "lora" or case == OF_ALL]
# `tuning_properties_test.py` asks the same of other methods after some steps.
FEW = [(case, "lora") for case in ("masked_lm, mask decoder", "permutation_lm", OF_ALL, "bidirectional_lm")]
FEW += [(OF_ALL, "ia3, inputs")]


@pytest.mark.parametrize("case, method", often(PAIRS, FEW))
def test_it_starts_as_the_base_and_is_merged_into_it(case, method):
    model = model_of(case, LAYERS.get(case, 1))
    at_first, paths, spread = logits_of(model, case), set(weights_by_path(model)), spread_of(model, case)
    prepare(model, AS_WRITTEN[method])
    assert len(model.added.held) == len(places_with_columns(model)) == CASES[case]
    np.testing.assert_allclose(logits_of(model, case), at_first, atol=1e-5)
    draw(model)
    with_additions = logits_of(model, case)
    assert np.abs(with_additions - at_first).max() > 0.01 * spread
    merge(model)
    assert set(weights_by_path(model)) == paths and not model.added.held
    scale = np.abs(with_additions).max()
    np.testing.assert_allclose(logits_of(model, case) / scale, with_additions / scale, atol=1e-5)


@pytest.mark.parametrize(
    "case, method",
    often(
        [(case, method) for method in EXTENDING for case in BLOCKS if method == "houlsby" or case == OF_ALL],
        [("denoising", "houlsby"), (OF_ALL, "pfeiffer")],
    ),
)
def test_what_does_not_merge_starts_as_the_base_too(case, method):
    model = model_of(case, LAYERS.get(case, 1))
    at_first = logits_of(model, case)
    prepare(model, EXTENDING[method])
    assert len(model.added.held) == BLOCKS[case] * len(EXTENDING[method].sublayers)
    np.testing.assert_allclose(logits_of(model, case), at_first, atol=1e-5)
    draw(model)
    assert np.abs(logits_of(model, case) - at_first).max() > 0.01 * np.abs(at_first).max()
    with pytest.raises(TuningError, match=method):
        merge(model)


def places_with_columns(model):
    return [place for place in places_of(model) if place.columns]


@pytest.mark.parametrize("method", [AS_WRITTEN["ia3"], EXTENDING["houlsby"]], ids=["ia3", "houlsby"])
def test_what_a_language_model_tells_tokens_with_stays_the_bases(method):
    model = model_of(OF_ALL)
    assert model.heads.table.trainable
    prepare(model, method)
    assert [each for each in weights_by_path(model) if each.startswith("heads/")] == ["heads/table"]
    assert not model.heads.table.trainable


def test_the_product_is_scaled_by_alpha_and_the_rank():
    kernels = {}
    for name, scale in {"lora": 16 / 2, "lora, stabilised": 3.0 / 2**0.5}.items():
        model = model_of("masked_lm")
        place = places_with_columns(model)[0]
        before, _ = place.columns.read()
        prepare(model, AS_WRITTEN[name])
        draw(model)
        product = np.array(place.layer.addition(place.name).down) @ place.layer.addition(place.name).up
        merge(model)
        np.testing.assert_allclose(place.columns.read()[0], before + scale * product, rtol=1e-5, atol=1e-6)
        kernels[name] = place.path
    assert set(kernels.values()) == {"backbone/encoder/block_0/attention/query"}


def test_dropout_acts_in_training_alone():
    model = model_of("masked_lm")
    prepare(model, adding.LoRA(rank=2, dropout=0.5))
    draw(model)
    features = training_features("masked_lm")
    asked = [np.array(model.backbone(features, training=False)) for _ in range(2)]
    trained = [np.array(model.backbone(features, training=True)) for _ in range(2)]
    np.testing.assert_array_equal(*asked)
    assert np.abs(trained[0] - trained[1]).max() > 0.01


def test_targets_are_named_by_the_ends_of_paths():
    model = model_of("denoising")
    prepare(model, adding.LoRA(rank=2, targets=("attention/value", "decoder/block_1/*/outer")))
    found = {path.rpartition("/lora/")[0] for path in weights_by_path(model) if path.startswith("added/")}
    values = {
        f"added/{side}/block_{number}/attention/value" for side in ("encoder", "decoder") for number in (0, 1)
    }
    assert found == {*values, "added/decoder/block_1/feed_forward/outer"}


SQUARE = ".*attention/query .*16 .*16 .*; 16 "
NARROW = ".*attention/value .*16 .*8 .*; 8 "


@pytest.mark.parametrize(
    "case, method, message",
    [
        (
            "masked_lm",
            {"targets": ("attention/qurey",)},
            "qurey .* attention/query",
        ),
        (
            "masked_lm",
            {"targets": ("query", "zzz")},
            "zzz .* query, key, value",
        ),
        ("bidirectional_lm", {}, "12 .* layer_0/forward_input"),
        (
            "bidirectional_lm",
            adding.Houlsby(),
            "houlsby.* BiLSTMBackbone",
        ),
        ("masked_lm", {"rank": 17}, f"^method.rank: 17, {SQUARE}"),
        ("masked_lm", adding.LoHa(rank=17), f"^method.rank: 17, {SQUARE}"),
        ("masked_lm", adding.AdaLoRA(initial_rank=17), f"^method.initial_rank: 17, {SQUARE}"),
        # The projection that takes the least rank is named.
        (OF_ALL, {"rank": 9, "targets": ("query", "value")}, f"^method.rank: 9, {NARROW}"),
        (
            "bidirectional_lm",
            {"targets": ALL, "rank": 2, "dropout": 0.1},
            "recurrent .* dropout",
        ),
    ],
)
def test_what_does_not_fit_is_refused(case, method, message):
    with pytest.raises(TuningError, match=message):
        prepare(model_of(case), adding.LoRA(**method) if isinstance(method, dict) else method)


def test_a_hadamard_product_is_scaled_by_alpha_and_the_rank():
    model = model_of("masked_lm")
    place = places_with_columns(model)[0]
    before, _ = place.columns.read()
    prepare(model, AS_WRITTEN["loha"])
    draw(model)
    one = place.layer.addition(place.name)
    product = np.matmul(one.first_down, one.first_up) * np.matmul(one.second_down, one.second_up)
    merge(model)
    np.testing.assert_allclose(place.columns.read()[0], before + 15 * product, rtol=1e-5, atol=1e-6)


def test_keys_and_values_and_what_feed_forward_layers_hold_are_rescaled():
    model = model_of("masked_lm")
    prepare(model, adding.IA3())
    shapes = {path: each.shape for path, each in weights_by_path(model).items() if path.startswith("added/")}
    block = "added/encoder/block_0"
    assert {path: shape for path, shape in shapes.items() if path.startswith(block)} == {
        f"{block}/attention/key/ia3/scale": (16,),
        f"{block}/attention/value/ia3/scale": (16,),
        f"{block}/feed_forward/outer/ia3/scale": (24,),
    }


def test_a_projection_that_is_rescaled_on_both_sides_is_refused():
    with pytest.raises(TuningError, match=r"attention/key .*: ia3"):
        prepare(model_of("masked_lm"), adding.IA3(input_targets=("key",)))
    with pytest.raises(ValueError, match=r"targets .*input_targets"):
        adding.IA3(targets=(), input_targets=())


def test_two_additions_to_one_place_are_refused():
    model = model_of("masked_lm")
    prepare(model, adding.LoRA(rank=2))
    with pytest.raises(TuningError, match=r"attention/query .*: lora"):
        prepare(model, adding.LoRA(rank=2))


@pytest.mark.repeated
def test_no_gradient_is_computed_of_what_is_frozen_or_below_the_first_addition():
    """Of the operations that a step needs: names of those of the backward pass say what they belong to."""
    shapes = {}
    for name, method in {"lora": adding.LoRA(rank=2, targets=("block_1/*/query",)), "full": Full()}.items():
        model = model_of("masked_lm")
        METHODS[method.kind](model, method, 1)
        optimizer = build_optimizer(OPTIMIZER, 100)
        optimizer.build(model.trainable_variables)
        losses = TRAINED["masked_lm"][1].losses
        step = build_train_step(model, optimizer, losses, tf.distribute.get_strategy(), 3)
        given = {key: tf.constant(value) for key, value in training_features("masked_lm").items()}
        graph = step.get_concrete_function(given).graph
        waiting, needed = [*(each.op for each in graph.outputs), *graph.control_outputs], set()
        while waiting:
            operation = waiting.pop()
            if operation not in needed:
                needed.add(operation)
                waiting += [*(each.op for each in operation.inputs), *operation.control_inputs]
        backward = [each for each in needed if "gradient_tape" in each.name]
        passed = {
            part for part in ("block_0", "block_1", "embeddings") for each in backward if part in each.name
        }
        assert passed == ({"block_1"} if name == "lora" else {"block_0", "block_1", "embeddings"})
        shapes[name] = {tuple(out.shape) for each in backward for out in each.outputs if out.shape.rank == 2}
    # The kernels of feed-forward layers.
    assert (24, 16) in shapes["full"] and (24, 16) not in shapes["lora"]
