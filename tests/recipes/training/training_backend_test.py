"""What a recipe that trains on JAX may ask for."""

import pytest

from firth.recipes import RecipeError, load_recipe


@pytest.mark.parametrize(
    "settings, sentence",
    [
        (
            "strategy: mirrored",
            "strategy: mirrored does not work with backend: jax; use none or data_parallel",
        ),
        ("gradient_accumulation_steps: 2", "gradient_accumulation_steps: 2 does not work with backend: jax"),
        ("rematerialisation: blocks", "rematerialisation: blocks does not work with backend: jax"),
        ("optimizer.moments: bfloat16", "optimizer.moments: bfloat16 does not work with backend: jax"),
        ("replicas: 2", "replicas: 2 needs strategy: data_parallel"),
    ],
)
def test_what_it_cannot_do_is_refused(settings, sentence):
    key, value = settings.split(": ")
    with pytest.raises(RecipeError, match=sentence):
        load_recipe("bert_tiny", ["training.backend=jax", f"training.{key}={value}"])


def test_its_strategy_is_not_tensorflows():
    with pytest.raises(
        RecipeError, match="data_parallel does not work with backend: tensorflow; use none, mirr"
    ):
        load_recipe("bert_tiny", ["training.strategy=data_parallel"])


def test_it_takes_replicas_and_not_xlnet():
    overrides = ["training.backend=jax", "training.strategy=data_parallel", "training.replicas=2"]
    assert load_recipe("bert_tiny", overrides).training.backend == "jax"
    with pytest.raises(
        RecipeError, match=r"backend: jax does not work with model\.kind: two_stream_transformer"
    ):
        load_recipe("xlnet_tiny", ["training.backend=jax"])
