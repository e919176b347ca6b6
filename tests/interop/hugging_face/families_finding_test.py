"""Every preset has a family that can express it, or is refused by the key in the way."""

import pytest

from firth.interop.errors import InteropError
from firth.interop.hugging_face.families import family_of
from firth.recipes import load_recipe, preset_names
from tests.repeating import often

# What no family of transformers computes.
REFUSED = {
    "elmo": "model.kind: 'bilstm'",
    "modernbert": "model.feed_forward.gated: True",
    "prefix_lm": "model.attention.scaled: False",
    "t5_ablation_language_model": "model.attention.scaled: False",
    "t5_ablation_prefix_lm": "model.attention.scaled: False",
    "t5_ablation_shared": "nearest is t5: model.share_encoder_decoder: True",
}

FEW = [
    *(name for name in preset_names() if name.endswith("_tiny")),
    *("prefix_lm_small", "t5_ablation_language_model_lm", "t5_ablation_shared_lm", "gpt3_small", "t5_ssm_3b"),
]


def reason(preset: str) -> str | None:
    return next((said for start, said in REFUSED.items() if preset.startswith(start)), None)


@pytest.mark.parametrize("preset", often(preset_names(), FEW))
def test_presets(preset):
    recipe = load_recipe(preset)
    if said := reason(preset):
        with pytest.raises(InteropError, match=said):
            family_of(recipe.model, recipe.goal)
        return
    family = family_of(recipe.model, recipe.goal)
    # What goes out describes a model of the same function.
    again = family.read_model(family.write_config(recipe.model))
    assert family.differences(again) == [] and family_of(again, recipe.goal) is family
    has_heads = family.heads_of(recipe.model, recipe.goal) is not None
    assert has_heads or getattr(recipe.goal, "mask_decoder", None)


@pytest.mark.parametrize(
    ("preset", "override", "message"),
    [
        ("bert_tiny", "model.norm.placement=pre", "nearest is bert: model.norm.placement: 'pre'"),
        ("gpt2_tiny", "model.bidirectional_prefix=true", "nearest is gpt2: model.bidirectional_prefix: True"),
        ("t5_tiny", "model.attention.dropout=0.3", "nearest is t5: model.attention.dropout: 0.3"),
        ("bart_tiny", "model.embeddings.norm=false", "nearest is bart: model.embeddings.norm: False"),
    ],
)
def test_one_key_in_the_way(preset, override, message):
    recipe = load_recipe(preset, [override])
    with pytest.raises(InteropError, match=message):
        family_of(recipe.model, recipe.goal)


def test_rates_of_dropout_do_not_count_where_nothing_is_trained():
    recipe = load_recipe("t5_tiny", ["model.attention.dropout=0.3"])
    assert family_of(recipe.model, recipe.goal, is_trained=False).model_type == "t5"
