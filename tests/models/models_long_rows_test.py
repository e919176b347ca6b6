"""Long rows: scores of some queries at a time give the losses and gradients of all at once."""

import keras
import numpy as np
import pytest

from firth import features as names
from firth.layers import CausalTransformer, MaskedTransformer
from firth.layers.attention import row_chunked_attention as by_rows
from tests.backends.gradients import gradients
from tests.backends.made_tensors import made_shapes
from tests.models.models_rematerialisation_test import (
    KEYS,
    assert_equal,
    build,
    gradients_of,
    loss_of,
)
from tests.models.table import LENGTH, TARGET_LENGTH, training_features
from tests.repeating import often

ROWS, LONG = 5, 8192
# Buckets of distances, and XLNet's two streams.
USUAL = ("prefix_lm", "permutation_lm")
# Grouped heads, an encoder next to a decoder, and disentangled distances.
OTHERS = ("causal_lm, table of its own", "span_corruption", "masked_lm, mask decoder")


@pytest.fixture
def few_rows(monkeypatch):
    """Rows of a test's length are long ones, and read in three blocks."""

    def settle():
        monkeypatch.setattr(by_rows, "LONGEST_WHOLE", ROWS)
        monkeypatch.setattr(by_rows, "ROWS", ROWS)
        monkeypatch.setattr(by_rows, "SCORES", 0)

    return settle


@pytest.mark.parametrize(
    "name",
    often(USUAL + OTHERS, ["permutation_lm", "causal_lm, table of its own", "masked_lm, mask decoder"]),
)
def test_gradients_are_those_of_all_scores_at_once(name, few_rows):
    """All models drop a tenth of everything, by the keys of the examples."""
    whole = gradients_of(name, again=False, layers=1)
    few_rows()
    assert_equal(gradients_of(name, again=False, layers=1), whole, 1e-6)


def test_blocks_that_are_computed_again_may_read_long_rows(few_rows):
    whole = gradients_of("masked_lm", again=False, layers=1)
    few_rows()
    assert_equal(gradients_of("masked_lm", again=True, layers=1), whole, 1e-6)


def all_pairs(shapes, lengths=(LENGTH, TARGET_LENGTH)) -> int:
    """The number of scores and masks, which have an axis of heads, with an entry for each pair of tokens.

    Bytes of dropout, of fewer axes, may have these sizes by chance: three predictions in each of four heads.
    """
    return sum(shape[-2] in lengths and shape[-1] in lengths for shape in shapes if len(shape) > 3)


# Below, a stack of blocks holds no pairs.
@pytest.mark.repeated
@pytest.mark.parametrize("name", USUAL)
def test_no_tensor_of_the_step_holds_all_pairs_of_tokens(name, few_rows):
    def count():
        model, losses = build(name, again=False, layers=1)
        features = training_features(name) | {names.NOISE_KEYS: KEYS}
        return all_pairs(made_shapes(model.trainable_variables, lambda: loss_of(model, losses, features)))

    assert count() > 0
    few_rows()
    assert count() == 0


STACK = {"layers": 1, "width": 4, "attention": {"heads": 2, "dropout": 0.1}, "feed_forward": {"width": 8}}


@pytest.mark.parametrize("kind", often([MaskedTransformer, CausalTransformer], [CausalTransformer]))
def test_rows_of_8192_tokens_hold_no_pairs(kind):
    """By the lengths that a training goes by; nothing is run."""
    stack = kind(STACK, seed=1)
    stack.build((1, LONG, 4))
    hidden, documents = np.ones((1, LONG, 4), "float32"), np.ones((1, LONG), "int32")
    shapes = made_shapes(
        stack.trainable_variables, lambda: keras.ops.sum(stack(hidden, documents, training=True))
    )
    assert all_pairs(shapes, (LONG,)) == 0
    # The last queries read all keys.
    assert any(shape[-2:] == (by_rows.ROWS, LONG) for shape in shapes)


@pytest.mark.parametrize("window", often([None, 4], [4]))
@pytest.mark.parametrize("kind", often([MaskedTransformer, CausalTransformer], [CausalTransformer]))
def test_a_window_leaves_out_keys(kind, window, few_rows, monkeypatch):
    """Of long rows, blocks of queries read the blocks of keys around them."""
    monkeypatch.setattr("firth.layers.attention.attention_bias.BLOCK", 4)
    local = None if window is None else {"window": window, "global_every": 2}
    # Two of three layers are local.
    stack = kind({**STACK, "layers": 3 if local else 1, "local_attention": local}, seed=1)
    length = 16
    hidden = np.random.default_rng(0).normal(size=(2, length, 4)).astype("float32")
    documents = np.array([[1] * 9 + [2] * 5 + [0] * 2, [1] * length])
    stack.build(hidden.shape)

    def found():
        made = gradients(stack, lambda: keras.ops.sum(stack(hidden, documents) ** 2))
        return {"states": keras.ops.convert_to_numpy(stack(hidden, documents)), **made}

    whole = found()
    few_rows()
    for name, value in found().items():
        np.testing.assert_allclose(value, whole[name], rtol=1e-4, atol=1e-4, err_msg=name)
