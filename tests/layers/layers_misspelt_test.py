"""A misspelt key or kind in a dict that a layer takes is refused, and the nearest valid name is given."""

import pytest

from firth import layers
from tests.layers.table import CASES, SCALING
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
        ({"positions": {}}, "`positions` needs a `kind`, one of: learned, sinusoidal, rotary"),
        ({"positions": {"base": 10.0}}, "`positions` needs a `kind`"),
        ({"positions": "rotary"}, "`positions` must be a dict or None. Received: positions='rotary'"),
        (
            {"positions": {"kind": "rotary", "scaling": {"fcator": 2.0}}},
            r"`positions\.scaling` .*mean factor",
        ),
        ({"positions": {"kind": "rotary", "length": 8}}, "`positions` has no key 'length'"),
        ({"norm": {"epsilno": 1.0}}, "`norm` has no key 'epsilno'; did you mean epsilon"),
    ],
)
def test_messages(part, message):
    with pytest.raises(ValueError, match=f"MaskedTransformer: {message}"):
        layers.MaskedTransformer(layers=1, width=8, attention={"heads": 2}, **part)


def test_scaling_takes_defaults_from_the_recipe():
    config = layers.RotaryPositions(4, scaling={"factor": 2.0}).get_config()
    assert config["scaling"] == {"factor": 2.0}
    assert layers.RotaryPositions(4, scaling=SCALING).scaling == SCALING
