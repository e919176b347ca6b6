"""The budget of AdaLoRA: which entries are left after each step is what peft leaves."""

import json
import pathlib

import numpy as np
import pytest
import tensorflow as tf

from firth.layers.elements.extensible_layer import GradientObserver
from firth.recipes.tuning.adding import AdaLoRA, LoRA
from firth.training.optimizers.optimizer_kinds import build_optimizer
from firth.training.step import build_train_step
from firth.tuning import METHODS, TuningError
from firth.tuning.adalora import RankAllocator, SingularValueAddition
from tests.models.table import TRAINED, training_features
from tests.training.eagerly import eagerly
from tests.tuning.additions_test import OPTIMIZER, model_of

GOLDEN = pathlib.Path(__file__).parents[1] / "interop" / "peft" / "golden" / "adalora_allocation.npz"
PARTS = {"down": "lora_A", "values": "lora_E", "up": "lora_B"}


@pytest.fixture(scope="module")
def golden():
    with np.load(GOLDEN) as arrays:
        return dict(arrays)


def method_of(golden) -> tuple[AdaLoRA, int]:
    said = json.loads(str(golden["made_with"]))
    method = AdaLoRA(
        initial_rank=said["init_r"],
        target_rank=said["target_r"],
        initial_steps=said["tinit"],
        final_steps=said["tfinal"],
        steps_between=said["deltaT"],
    )
    return method, said["total_step"]


def ours(golden, place, name, part) -> np.ndarray:
    array = golden[f"{place}/{name}.{PARTS[part]}.default"]
    return array.reshape(-1) if part == "values" else array.T


def additions_of(golden) -> dict[str, SingularValueAddition]:
    found = {}
    for name in ("first", "second"):
        arrays = {part: ours(golden, "weight", name, part) for part in PARTS}
        inputs, outputs = len(arrays["down"]), arrays["up"].shape[1]
        found[name] = SingularValueAddition(inputs, outputs, 3, 1.0, orthogonality=0.5 / 4, name=name)
        found[name].build((None, None, inputs))
        for part, array in arrays.items():
            getattr(found[name], part).assign(array)
    return found


def test_what_is_left_after_each_step_is_what_peft_leaves(golden):
    method, steps = method_of(golden)
    additions = additions_of(golden)
    allocator = RankAllocator(additions.values(), method)
    allocator.plan(steps)
    act = tf.function(allocator.observe, autograph=False)
    for step in range(1, steps + 1):
        gradients = {}
        for name, addition in additions.items():
            for part in PARTS:
                weight = getattr(addition, part)
                gradients[weight.path] = tf.constant(ours(golden, f"gradient/{step}", name, part))
                weight.assign(weight - 0.1 * gradients[weight.path])
        act(gradients, tf.constant(step, tf.int64))
        for name, addition in additions.items():
            expected = golden[f"values/{step}/{name}"]
            np.testing.assert_allclose(addition.values, expected, atol=1e-6, err_msg=f"{name} after {step}")


def test_the_penalty_is_that_of_peft(golden):
    losses = [loss for addition in additions_of(golden).values() for loss in addition.losses]
    np.testing.assert_allclose(sum(losses), golden["penalty"], rtol=1e-6)


def test_a_run_too_short_for_the_schedule_is_refused(golden):
    allocator = RankAllocator(additions_of(golden).values(), AdaLoRA(initial_steps=3, final_steps=2))
    with pytest.raises(TuningError, match=r"initial_steps: 3 .*method\.final_steps: 2 .* 5"):
        allocator.plan(5)


def test_a_rank_that_would_grow_is_refused():
    with pytest.raises(ValueError, match=r"target_rank: 8 .*initial_rank: 4"):
        AdaLoRA(initial_rank=4)


class NormObserver(GradientObserver):
    def __init__(self):
        self.norm = tf.Variable(0.0)

    def observe(self, gradients, updates):
        self.norm.assign(tf.linalg.global_norm(list(gradients.values())))


def test_scores_read_the_gradients_after_clipping():
    """As in peft, whose caller clips before the ranks are given out."""
    model, observer = model_of("masked_lm"), NormObserver()
    METHODS["lora"](model, LoRA(rank=2), 1)
    model.added.observers.append(observer)
    optimizer = build_optimizer(OPTIMIZER.model_copy(update={"gradient_clip_norm": 1e-3}), 100)
    optimizer.build(model.trainable_variables)
    losses = TRAINED["masked_lm"][1].losses
    step = build_train_step(model, optimizer, losses, tf.distribute.get_strategy(), 3)
    features = training_features("masked_lm")
    # Its graph takes longer to trace than one step.
    with eagerly():
        found = step({name: tf.constant(value) for name, value in features.items()})
    assert found.gradient_norm > 1e-2
    np.testing.assert_allclose(observer.norm, 1e-3, rtol=1e-4)
