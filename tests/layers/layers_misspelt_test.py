"""A misspelt key or kind in a dict that a layer takes is refused, and the nearest valid name is given."""

import pytest

from firth import layers
from firth.recipes import MaskedTransformerConfig, RotaryScalingConfig
from tests.layers.part_cases import SCALING
from tests.layers.table import CASES
from tests.misspelt import check_refused

WITH_DICTS = [
    name for name, case in CASES.items() if any(isinstance(value, dict) for value in case.arguments.values())
]


@pytest.mark.parametrize("name", WITH_DICTS)
def test_misspelt_names(name):
    assert check_refused(CASES[name].make, CASES[name].arguments) > 0


def test_every_layer_of_blocks_is_looked_at():
    looked_at = {CASES[name].make for name in WITH_DICTS}
    assert looked_at >= {
        layers.InputEmbedding,
        layers.RotaryPositions,
        layers.TransformerBlock,
        layers.MaskedTransformer,
        layers.CausalTransformer,
        layers.TwoStreamBlock,
        layers.TwoStreamTransformer,
    }


@pytest.mark.parametrize(
    "part, message",
    [
        ({"positions": {}}, "positions: .*`kind`, not {}"),
        ({"positions": "rotary"}, "positions: .*, not 'rotary'"),
        (
            {"positions": {"kind": "rotary", "scaling": {"fcator": 2.0}}},
            r"positions\.scaling\.fcator: .* factor",
        ),
        (
            {"positions": {"kind": "sinusoidal", "length": 8}},
            r"positions\.length: .*kind: learned",
        ),
        ({"norm": {"epsilno": 1.0}}, r"norm\.epsilno: .* epsilon"),
        ({"laeyrs": 2}, "laeyrs: .* layers"),
    ],
)
def test_messages(part, message):
    with pytest.raises(ValueError, match=f"StackConfig: {message}"):
        layers.MaskedTransformer(part)


def test_a_config_is_whole_and_comes_back():
    stack = layers.StackConfig(width=8, attention={"heads": 2}, positions={"kind": "rotary"})
    first = layers.CausalTransformer(stack)
    assert first.stack == stack
    assert first.get_config()["stack"] == stack.model_dump(mode="json")
    assert layers.CausalTransformer.from_config(first.get_config()).stack == stack
    assert layers.TransformerBlock(MaskedTransformerConfig(width=8, attention={"heads": 4})).stack.width == 8


def test_scaling_takes_defaults_from_the_recipe():
    config = layers.RotaryPositions(4, scaling={"factor": 2.0}).get_config()
    assert config["scaling"] == {"factor": 2.0, **RotaryScalingConfig().model_dump(exclude={"factor"})}
    assert layers.RotaryPositions(4, scaling=SCALING).scaling == RotaryScalingConfig(**SCALING)
