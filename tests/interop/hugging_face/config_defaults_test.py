"""A key that a configuration leaves out is read as transformers' own default."""

import json
import pathlib

import pytest

from firth.interop.errors import InteropError
from firth.interop.hugging_face.config import whole_values
from firth.interop.hugging_face.families import FAMILIES
from tests.repeating import often

GOLDEN = json.loads(pathlib.Path(__file__).with_name("golden").joinpath("defaults.json").read_text())
DEFAULTS = GOLDEN["defaults"]
# That transformers 5 has no longer, or has in some models only.
OF_OTHER_RELEASES = {"is_decoder", "position_embedding_type", "conv_kernel_size", "untie_r"}
# What the defaults of a family say that cannot be expressed here, and every published model says otherwise.
STATED = {
    "deberta-v2": {
        "relative_attention": True,
        "share_att_key": True,
        "pos_att_type": ["p2c", "c2p"],
        "norm_rel_ebd": "layer_norm",
        "position_biased_input": False,
    }
}
KEYS = [(family, key) for family, defaults in DEFAULTS.items() for key in defaults]


def read(family, config):
    """The values of the model, or why the model is refused."""
    try:
        return whole_values(FAMILIES[family].read_model(config))
    except InteropError as error:
        return str(error)


@pytest.fixture(scope="module")
def whole():
    """The model of each family whose configuration states every key."""
    return {family: read(family, {**DEFAULTS[family], **STATED.get(family, {})}) for family in FAMILIES}


def test_every_family_is_there(whole):
    assert DEFAULTS.keys() == FAMILIES.keys()
    assert not [model for model in whole.values() if isinstance(model, str)]


@pytest.mark.parametrize("family", FAMILIES)
def test_every_key_of_a_field_has_a_default(family):
    """But for those that a reader makes of other keys."""
    spread = FAMILIES[family].spread(dict(DEFAULTS[family]))
    known = DEFAULTS[family].keys() | spread.keys()
    rope = {field.theirs for field in FAMILIES[family].fields if field.theirs.startswith("rope_")}
    assert {field.theirs for field in FAMILIES[family].fields} - known <= rope
    assert FAMILIES[family].theirs_always.keys() - known <= OF_OTHER_RELEASES


@pytest.mark.parametrize(
    ("family", "key"),
    often(KEYS, [each for each in KEYS if each[0] in ("bert", "deberta", "xlnet", "t5", "gpt2")]),
)
def test_a_key_that_is_left_out(family, key, whole):
    stated = {**DEFAULTS[family], **STATED.get(family, {})}
    others = {name: value for name, value in stated.items() if name != key}
    if key in STATED.get(family, {}):
        # Its default is refused, whether it is stated or not.
        assert read(family, others) == read(family, {**others, key: DEFAULTS[family][key]})
        assert "cannot be expressed here" in read(family, others)
    else:
        assert read(family, others) == whole[family]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_configuration_that_says_nothing_else(family, whole):
    assert read(family, STATED.get(family, {})) == whole[family]
