"""The stack of blocks that each type of model has."""

import pytest

from firth.recipes import EncoderDecoderConfig, MaskedTransformerConfig, SharedLayersConfig
from firth.recipes.models.stack import StackConfig


def test_a_model_gives_the_stack_it_is_made_of():
    values = {
        "layers": 4,
        "width": 8,
        "attention": {"heads": 2},
        "share_layers": {"groups": 2},
        "dropout": 0.2,
    }
    stack = StackConfig(**values)
    assert MaskedTransformerConfig(**values, embeddings={"segments": 3}).stack == stack == stack.stack
    assert stack.order == (0, 0, 1, 1)


@pytest.mark.parametrize(
    "groups, blocks, layers, order",
    [
        (1, 1, 3, (0, 0, 0)),
        (2, 1, 6, (0, 0, 0, 1, 1, 1)),
        (1, 2, 4, (0, 1, 0, 1)),
        (2, 2, 8, (0, 1, 0, 1, 2, 3, 2, 3)),
        (3, 1, 3, (0, 1, 2)),
    ],
)
def test_groups_are_applied_one_after_another(groups, blocks, layers, order):
    assert SharedLayersConfig(groups=groups, blocks=blocks).order(layers) == order


@pytest.mark.parametrize("shared", [{"blocks": 2}, {"groups": 4}])
def test_groups_that_do_not_fit_are_refused(shared):
    with pytest.raises(ValueError, match=f"share_layers.{next(iter(shared))}: "):
        StackConfig(layers=3, share_layers=shared)


def test_a_decoder_s_stack_is_as_deep_as_it_says():
    model = EncoderDecoderConfig(layers=4, decoder_layers=2)
    assert (model.stack.layers, model.decoder_stack.layers) == (4, 2)
    assert EncoderDecoderConfig(layers=3).decoder_stack == EncoderDecoderConfig(layers=3).stack
