"""Which weights of all models are decayed."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from firth.layers import LinearChainCRF
from firth.models import PretrainingModel
from firth.recipes.tuning.adding import LoRA
from firth.training.optimizers.adamw import AdamW
from firth.training.optimizers.summed_gradients import is_decayed
from firth.tuning import METHODS
from tests.models.table import TRAINED, VOCABULARY, shape_of

# Names of weights in their layers; of a character CNN's kernels, the first two.
DECAYED = {"kernel", "table", "kernel_0", "kernel_1", "query_kernel", "relative_kernel", "segments"}
DECAYED |= {"inner_kernel", "gate_kernel", "outer_kernel"}
DECAYED |= {"input_kernel", "recurrent_kernel", "projection_kernel"}
KEPT = {"bias", "query_bias", "inner_bias", "outer_bias", "content_bias", "position_bias", "segment_bias"}
KEPT |= {"gamma", "beta", "scale"}
# Their layers and heads are those of others.
OF_OTHERS = (
    "masked_lm",
    "masked_lm, mask decoder",
    "replaced_token_detection",
    "causal_lm",
    "span_corruption",
)


def built(name: str) -> keras.Model:
    shape, objective = shape_of(name), TRAINED[name][1]
    made = PretrainingModel(model=shape, objective=objective, vocabulary_size=VOCABULARY, dtype="float32")
    made.build()
    return made


@pytest.fixture(scope="module")
def variables():
    """Those of all backbones, with their heads."""
    return [each for name in TRAINED if name not in OF_OTHERS for each in built(name).trainable_variables]


def test_weights_of_all_backbones_are_decayed_by_what_they_are(variables):
    names = {each.name for each in variables}
    assert names <= DECAYED | KEPT, names - DECAYED - KEPT
    assert names >= (DECAYED | KEPT) - {"query_bias"}, (DECAYED | KEPT) - names
    assert {each.name for each in variables if is_decayed(each)} == names & DECAYED
    # Their shapes say nothing.
    assert {len(each.shape) for each in variables if not is_decayed(each)} == {1, 2, 3}


def test_what_methods_and_heads_add():
    model = built("masked_lm")
    before = {id(each) for each in model.trainable_variables}
    METHODS["lora"](model, LoRA(rank=2), 1)
    added = {each.name for each in model.trainable_variables if id(each) not in before}
    assert added == {"down", "up"} and all(map(is_decayed, model.trainable_variables[-2:]))
    chain = LinearChainCRF(3)
    chain.build((None, None, 3), (None, None))
    assert {each.name: is_decayed(each) for each in chain.weights} == {
        "transitions": True,
        "starts": False,
        "ends": False,
    }


def test_a_step_without_a_gradient_leaves_a_bias_of_any_shape():
    start = np.ones((2, 1, 4), "float32")
    weights = [keras.Variable(start, name=name) for name in ("position_bias", "segments")]
    optimizer = AdamW(0.1, weight_decay=0.5)
    optimizer.apply([tf.zeros(start.shape)] * 2, weights)
    bias, table = (np.asarray(each) for each in weights)
    np.testing.assert_array_equal(bias, start)
    np.testing.assert_allclose(table, 0.95 * start)
