"""Methods that choose layers and rates, on every kind of backbone, with the training's own step."""

import re
from unittest import mock

import numpy as np
import pytest
import tensorflow as tf

from firth.models import PretrainingModel
from firth.models.model_kinds import BACKBONES
from firth.recipes.training.optimizers import AdamWConfig
from firth.recipes.tuning import methods
from firth.training.optimizers.optimizer_kinds import build_optimizer
from firth.training.step import build_train_step
from firth.tuning import METHODS, TuningError
from firth.tuning.layers import groups_of
from tests.models.table import MODELS, OTHERS, TRAINED, VOCABULARY, training_features
from tests.repeating import often
from tests.tuning.table import ADDING

# Each kind of backbone, and where weights are shared by layers, stacks, or with the output; with the number
# of groups: heads, layers, embeddings.
CASES = {
    "masked_lm": 4,
    "masked_lm, order of sentences": 3,
    "replaced_token_detection, mask decoder": 4,
    "permutation_lm": 4,
    "causal_lm, table of its own": 4,
    "span_corruption": 4,
    "bidirectional_lm": 4,
}
AS_WRITTEN = {
    "full": methods.Full(),
    "head": methods.Head(),
    "last_layers": methods.LastLayers(layers=1),
    "discriminative": methods.Discriminative(decay=0.5),
    "gradual_unfreezing": methods.GradualUnfreezing(),
}
OPTIMIZER = AdamWConfig(learning_rate=0.01, warmup_steps=0, schedule="constant", weight_decay=0.5)


def model_of(case):
    name, objective = TRAINED[case]
    return PretrainingModel({**MODELS, **OTHERS}[name], objective, VOCABULARY, seed=1, name="model")


class Run:
    """A model that a method has prepared, and the step that trains it."""

    def __init__(self, case, kind, steps_per_epoch=1):
        self.model = model_of(case)
        self.model.build()
        self.groups = groups_of(self.model)
        self.multipliers = METHODS[kind](self.model, AS_WRITTEN[kind], steps_per_epoch)
        optimizer = build_optimizer(OPTIMIZER, 100, multipliers=self.multipliers)
        optimizer.build(self.model.trainable_variables)
        losses = TRAINED[case][1].losses
        self.step = build_train_step(self.model, optimizer, losses, tf.distribute.get_strategy(), 3)
        self.features = {name: tf.constant(value) for name, value in training_features(case).items()}

    def changed(self, steps=1) -> list[bool]:
        """Which groups some steps change in a weight or more."""
        before = self.values()
        for _ in range(steps):
            self.step(self.features)
        pairs = zip(before, self.values(), strict=True)
        return [any((a != b).any() for a, b in zip(old, new)) for old, new in pairs]

    def values(self):
        return [[weight.numpy() for weight in group] for group in self.groups]


@pytest.fixture
def eagerly():
    """Steps that are not compiled, which takes longer than they do."""
    tf.config.run_functions_eagerly(True)
    yield
    tf.config.run_functions_eagerly(False)


def test_each_method_is_in_the_table():
    assert list(METHODS) == [*AS_WRITTEN, *ADDING]


def test_the_cases_have_every_kind_of_backbone():
    assert {{**MODELS, **OTHERS}[TRAINED[case][0]].kind for case in CASES} == set(BACKBONES)


# The others have their groups from the stages that `backbone_stages_test.py` looks at.
@pytest.mark.parametrize(
    "case, count",
    often(CASES.items(), [each for each in CASES.items() if each[0] == "bidirectional_lm"]),
)
def test_the_last_layer_and_the_heads_are_trained_alone(case, count, eagerly):
    """The others stay bit for bit, without a gradient and without decay."""
    run = Run(case, "last_layers")
    assert len(run.groups) == count
    assert run.changed() == [bool(run.groups[0]), True, *[False] * (count - 2)]


@pytest.mark.parametrize(
    "kind, changed",
    [
        pytest.param("full", [True, True, True, True], marks=pytest.mark.repeated),
        ("head", [True, False, False, False]),
        ("discriminative", [True, True, True, True]),
    ],
)
def test_what_a_method_trains(kind, changed, eagerly):
    assert Run("masked_lm", kind).changed() == changed


def test_a_layer_more_is_trained_with_each_epoch(eagerly):
    run = Run("masked_lm", "gradual_unfreezing", steps_per_epoch=2)
    found = [run.changed() for _ in range(5)]
    assert found == [[place <= step // 2 for place in range(4)] for step in range(5)]


@pytest.mark.repeated
def test_the_first_epoch_is_that_of_the_head_alone(eagerly):
    heads = []
    for kind in ("gradual_unfreezing", "head"):
        run = Run("masked_lm", kind, steps_per_epoch=2)
        run.changed(2)
        heads.append(run.values()[0])
    for found, expected in zip(*heads, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)


def test_without_heads_of_their_own_the_last_layer_is_the_first_to_be_trained(eagerly):
    """T5's output is the token table, which is trained with the embeddings."""
    run = Run("span_corruption", "gradual_unfreezing")
    assert [run.changed() for _ in range(3)] == [
        [False, True, False, False],
        [False, True, True, False],
        [False, True, True, True],
    ]


def test_the_rate_falls_from_the_heads_to_the_embeddings():
    run = Run("masked_lm", "discriminative")
    rates = [{run.multipliers.get(weight.path, 1.0) for weight in group} for group in run.groups]
    assert rates == [{1.0}, {0.5}, {0.25}, {0.125}]


@pytest.mark.parametrize(
    "kind, passed", often([("last_layers", "block_1"), ("head", None)], [("last_layers", "block_1")])
)
def test_no_gradient_is_computed_below_what_is_trained(kind, passed):
    """Operations of the backward pass are named after those whose gradients they compute."""
    run = Run("masked_lm", kind)
    graph = run.step.get_concrete_function(run.features).graph
    names = [each.name for each in graph.get_operations()]
    backward = [name for name in names if "gradient_tape" in name]
    assert any("masked_lm_head" in name for name in backward)
    for stage in ("block_1", "block_0", "embeddings"):
        of_stage = [name for name in names if re.search(rf"/{stage}(_\d+)?/", name)]
        assert of_stage and any(name in of_stage for name in backward) == (stage == passed), stage


def test_heads_that_read_the_token_table_cannot_be_trained_alone():
    model = model_of("span_corruption")
    model.build()
    with pytest.raises(TuningError, match=r"method\.kind: head"):
        METHODS["head"](model, AS_WRITTEN["head"], 1)
    assert all(weight.trainable for weight in model.trainable_weights)


def test_more_layers_than_there_are_is_refused():
    model = model_of("masked_lm, order of sentences")
    model.build()
    with pytest.raises(TuningError, match=r"method\.layers: 2\b.* 1 "):
        METHODS["last_layers"](model, methods.LastLayers(layers=2), 1)


def test_a_weight_in_no_stage_is_refused():
    model = model_of("masked_lm")
    model.build()
    stages = property(lambda backbone: (("token_embedding", "embeddings"), ("encoder/block_0",)))
    with (
        mock.patch.object(BACKBONES["masked_transformer"], "stages", stages),
        pytest.raises(TuningError, match=r"block_1/.*MaskedTransformerBackbone"),
    ):
        groups_of(model)
