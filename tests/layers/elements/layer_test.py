"""The base of layers: attributes and config follow from a constructor's signature."""

import keras
import numpy as np
import pytest

from firth import layers
from firth.layers.elements.layer import Layer


class Widening(Layer):
    def __init__(self, width, factor=2.0, names=("a", "b"), seed=None, **kwargs):
        super().__init__(**kwargs)
        self.width = width * 2


def test_numbers_are_attributes_and_the_constructor_may_resolve_them():
    layer = Widening(3, name="mine")
    assert (layer.width, layer.factor) == (6, 2.0)
    assert not hasattr(layer, "names")


def test_the_config_holds_what_was_given_and_what_was_left_out():
    config = Widening(3, seed=keras.random.SeedGenerator(7)).get_config()
    own = {name: config[name] for name in ("width", "factor", "names", "seed")}
    assert own == {"width": 3, "factor": 2.0, "names": ["a", "b"], "seed": None}
    assert Widening.from_config(config).get_config() == config


def test_an_argument_that_is_missing_is_named():
    with pytest.raises(TypeError, match="'width'"):
        Widening()


def test_numpys_numbers_are_as_good_as_plain_ones():
    layer = layers.Attention(np.int64(8), heads=np.int32(2), dropout=np.float32(0.5))
    assert layer.get_config() == {
        **layers.Attention(8, heads=2, dropout=0.5).get_config(),
        "name": layer.name,
    }
    stack = {"width": np.int64(8), "layers": np.int32(2), "attention": {"heads": np.int64(2)}}
    block = layers.TransformerBlock(stack)
    assert block.stack == layers.StackConfig(width=8, layers=2, attention={"heads": 2})


def test_a_float32_output_is_inferred_from_inputs_given_by_name():
    head = layers.MaskedLMHead(vocabulary_size=10, width=4, dtype="mixed_bfloat16")
    given = {
        "masked_positions": keras.KerasTensor((None, 3), "int32"),
        "token_table": keras.KerasTensor((10, 4)),
    }
    made = head(keras.KerasTensor((None, 6, 4)), **given)
    assert (made.shape, made.dtype) == ((None, 3, 10), "float32")


def test_disentangled_attention_reads_no_encoder():
    with pytest.raises(ValueError, match=r"`cross` .*False"):
        layers.DisentangledAttention(8, heads=2, cross=True)
