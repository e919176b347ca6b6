"""Parts that Python code makes are refused in the words of a file's, with the nearest valid name."""

import copy
import pickle

import pytest

from firth.recipes import AttentionConfig, CharacterCNNConfig, FeedForwardConfig, MaskedTransformerConfig

REFUSED = [
    ({"layres": 2}, "layres: unknown key; did you mean layers?"),
    ({"attention": {"haeds": 2}}, "attention.haeds: unknown key; did you mean heads?"),
    ({"positions": {"kind": "rotari"}}, "positions: kind: unknown kind 'rotari'; did you mean rotary?"),
    ({"positions": {"base": 10.0}}, "positions: must be a mapping with a `kind`, not {'base': 10.0}"),
    ({"norm": {"kind": "rms_nrom"}}, "norm.kind: 'rms_nrom' is not a choice here; did you mean rms_norm?"),
    ({"norm": {"placement": "mid"}}, "norm.placement: 'mid' is not a choice here; one of: post, pre"),
    (
        {"positions": {"kind": "rotary", "scaling": {"fcator": 2.0}}},
        "positions.scaling.fcator: unknown key; did you mean factor?",
    ),
    ({"width": 10, "attention": AttentionConfig(heads=3)}, "attention.heads: 3 does not divide width: 10"),
    ({"layers": "2"}, "layers: must be a valid integer, not '2'"),
]


@pytest.mark.parametrize("values, message", REFUSED)
def test_a_part_refuses_by_itself_what_it_does_not_know(values, message):
    for make in (lambda: MaskedTransformerConfig(**values), lambda: MaskedTransformerConfig.of(values)):
        with pytest.raises(ValueError) as raised:
            make()
        assert str(raised.value) == f"MaskedTransformerConfig: {message}"


def test_all_problems_are_told_at_once():
    with pytest.raises(ValueError, match=r"layres: .*\n.*wdth: "):
        MaskedTransformerConfig(layres=2, wdth=8)


def test_a_part_of_another_type_is_refused():
    with pytest.raises(ValueError, match="attention: must be"):
        MaskedTransformerConfig(attention=FeedForwardConfig())


def test_a_part_comes_back_from_plain_values():
    part = MaskedTransformerConfig(width=8, attention={"heads": 2})
    assert MaskedTransformerConfig.of(part) is part
    for again in (pickle.loads(pickle.dumps(part)), copy.deepcopy(part), part.model_copy(), part.of(part)):
        assert again == part
    # JSON has lists only, and nested parts may be parts already.
    assert MaskedTransformerConfig.of({"width": 8, "attention": part.attention}) == part
    assert CharacterCNNConfig.of({"filters": [[1, 2]]}).filters == ((1, 2),)
