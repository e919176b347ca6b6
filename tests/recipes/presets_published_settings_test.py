"""Settings of training and shape in papers and releases, beyond the number of parameters."""

import pytest

from firth.recipes import load_recipe, preset_names

LLAMA_3 = [name for name in preset_names() if name.startswith("llama_3")]


@pytest.mark.parametrize("name", LLAMA_3)
def test_llama_3_ends_at_a_hundredth_of_its_rate(name):
    """Grattafiori et al. 2024, section 3.4.1: of the 405B from 8e-5 to 8e-7."""
    optimizer = load_recipe(name).training.optimizer
    assert (optimizer.schedule.kind, optimizer.final_fraction) == ("cosine", 0.01)


@pytest.mark.parametrize("name", LLAMA_3)
def test_llama_3_does_not_scale_positions_for_rows_of_8192(name):
    """Section 3.4.2: longer rows come in stages after."""
    recipe = load_recipe(name)
    assert recipe.sequences.length == 8192
    assert (recipe.model.positions.base, recipe.model.positions.scaling) == (500_000.0, None)


@pytest.mark.parametrize("size, epsilon", [("7b", 1e-6), ("13b", 1e-6), ("33b", 1e-6), ("65b", 1e-5)])
def test_epsilon_of_the_released_llama(size, epsilon):
    assert load_recipe(f"llama_1_{size}").model.norm.epsilon == epsilon


@pytest.mark.parametrize("name", [name for name in preset_names() if name.startswith("qwen_3")])
def test_epsilon_of_the_released_qwen_3(name):
    """Not that of Llama 3, which its presets extend."""
    assert load_recipe(name).model.norm.epsilon == 1e-6


@pytest.mark.parametrize("size, warmup", [("base", 3e9), ("large", 2e9)])
def test_tokens_of_modernbert(size, warmup):
    """Warner et al. 2024, section 2.2: 1.7T at this length, with a warm-up of its own for each size."""
    recipe = load_recipe(f"modernbert_{size}")
    tokens = recipe.training.batch_size * recipe.sequences.length
    assert recipe.training.steps * tokens == pytest.approx(1.7e12, rel=0.01)
    assert recipe.training.optimizer.warmup_steps * tokens == pytest.approx(warmup, rel=0.02)


def test_llama_2_34b_shares_keys_as_the_70b_does():
    """Touvron et al. 2023, "Llama 2", table 1 and section 2.2."""
    recipe = load_recipe("llama_2_34b")
    assert recipe.model.key_value_heads == 8
    assert recipe.training.optimizer.learning_rate == 1.5e-4
    assert recipe.sequences.length == 4096


def test_steps_of_electra_large():
    """Clark et al. 2020, section 3.4: both train ELECTRA-Large."""
    short, long = load_recipe("electra_large"), load_recipe("electra_large_1_75m")
    assert (short.training.steps, long.training.steps) == (400_000, 1_750_000)
    assert short.model == long.model and short.objective == long.objective


@pytest.mark.parametrize("name", [name for name in preset_names() if name.startswith(("t5_", "prefix_lm_"))])
def test_t5_drops_in_all_places_or_in_none(name):
    """Raffel et al. 2019, section 3.1.2, and the reference code's sublayers; T5 1.1 pre-trains without."""
    model = load_recipe(name).model
    assert model.dropout == (0.0 if name.endswith("_tiny") or "1_1" in name else 0.1)
    assert {model.attention.dropout, model.feed_forward.dropout, model.output_dropout} == {model.dropout}
    assert model.scaled_initializer


@pytest.mark.parametrize("name", ["xlnet_base", "xlnet_large"])
def test_xlnet_drops_the_layer_between(name):
    model = load_recipe(name).model
    assert model.feed_forward.dropout == model.dropout == 0.1
