"""Types of stored weights: their parts and precision, and the weights that they are for."""

import numpy as np
import pytest
import tensorflow as tf

from firth.models import build_pretraining_model
from firth.models.builders import build_outline
from firth.models.bundle import weights_by_path
from firth.recipes import load_recipe
from firth.recipes.training.export import Export
from firth.serving.stored_weights.weight_types import WEIGHT_TYPES, stored_weights_of
from tests.exported_model import RECIPE
from tests.repeating import often

RANDOM = np.random.default_rng(0)
REDUCED = ("bfloat16", "int8")


def test_the_types_are_those_of_the_recipe():
    assert list(WEIGHT_TYPES) == list(Export.model_fields["weights"].annotation.__args__)
    with pytest.raises(ValueError, match=r"weights: 'int4' .*int8"):
        Export.of({"weights": "int4"})


@pytest.mark.parametrize(("shape", "axis"), [((6, 5), 1), ((6, 5), 0), ((2, 6, 5), 1), ((2, 6, 5), 2)])
def test_what_is_stored_is_as_it_says(shape, axis):
    values = RANDOM.normal(size=shape).astype(np.float32)
    for name in REDUCED:
        kind = WEIGHT_TYPES[name]
        parts, specs = kind.pack(values, axis), kind.specs(shape, axis)
        assert {key: (each.dtype.name, tuple(each.shape)) for key, each in parts.items()} == specs


@pytest.mark.parametrize("axis", [0, 1])
def test_int8_has_a_scale_for_each_output(axis):
    values = RANDOM.normal(size=(64, 64)).astype(np.float32)
    # Outputs of other sizes do not take one another's precision, and one of zeros stays so.
    sizes = np.logspace(-3, 3, 64, dtype=np.float32)
    sizes[0] = 0.0
    values *= np.expand_dims(sizes, 1 - axis)
    kind = WEIGHT_TYPES["int8"]
    parts = kind.pack(values, axis)
    found = kind.unpack(parts).numpy()
    scale = np.abs(values).max(axis=1 - axis, keepdims=True) / 127
    assert (np.abs(found - values) <= scale * 0.501).all() and (found != values).any()
    greatest = np.abs(values).max(axis=1 - axis)
    np.testing.assert_allclose(np.abs(found).max(axis=1 - axis), greatest, rtol=1e-6)
    assert not np.take(found, 0, axis).any()


def test_bfloat16_rounds_to_eight_bits():
    values = RANDOM.normal(size=(64, 64)).astype(np.float32)
    found = WEIGHT_TYPES["bfloat16"].unpack(WEIGHT_TYPES["bfloat16"].pack(values, 1)).numpy()
    error = np.abs(found / values - 1).max()
    assert 2**-10 < error <= 2**-8
    np.testing.assert_array_equal(found, tf.cast(tf.cast(values, tf.bfloat16), tf.float32))


def test_a_weight_that_is_not_finite_has_no_scale():
    for wrong in (np.nan, np.inf):
        with pytest.raises(ValueError, match="not finite"):
            WEIGHT_TYPES["int8"].pack(np.full((2, 2), wrong, np.float32), 1)


def test_kernels_and_tables_of_tokens_are_stored_so_and_nothing_else():
    model = build_pretraining_model(RECIPE)
    assert stored_weights_of(model, "float32") == {}
    packings, weights = stored_weights_of(model, "int8"), weights_by_path(model)
    reduced = {path: packings[id(each)].axis for path, each in weights.items() if id(each) in packings}
    block = "backbone/encoder/block_0"
    assert reduced == {
        "backbone/token_embedding/table": 0,
        f"{block}/attention/kernel": 1,
        f"{block}/attention/output/kernel": 1,
        f"{block}/feed_forward/inner_kernel": 0,
        f"{block}/feed_forward/outer_kernel": 1,
        "heads/masked_lm_head/dense/kernel": 1,
        "heads/pooler/dense/kernel": 1,
        "heads/pair_head/dense/kernel": 1,
    }
    kept = weights.keys() - reduced.keys()
    assert {"backbone/embeddings/position/table", "backbone/embeddings/segment/table"} <= kept
    assert all(len(weights[path].shape) == 1 or path.endswith("table") for path in kept)


@pytest.mark.parametrize(
    "name", often(["bert_base", "elmo_original", "gpt2_small", "t5_base"], ["bert_base", "elmo_original"])
)
def test_of_each_family_nearly_all_numbers_are_reduced(name):
    model = build_outline(load_recipe(name))
    packings, weights = stored_weights_of(model, "bfloat16"), weights_by_path(model)
    numbers = {path: int(np.prod(each.shape)) for path, each in weights.items()}
    reduced = sum(size for path, size in numbers.items() if id(weights[path]) in packings)
    assert reduced > 0.98 * sum(numbers.values())
