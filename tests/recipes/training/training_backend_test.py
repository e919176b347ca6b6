"""Settings of recipes that train on JAX, allowed and refused."""

import pytest

from firth.recipes import RecipeError, load_recipe


@pytest.mark.parametrize(
    "settings, sentence",
    [
        (
            "strategy: mirrored",
            "strategy: mirrored does not work with backend: jax; use none, data_parallel or model_parallel",
        ),
        ("replicas: 2", "replicas: 2 needs strategy: data_parallel"),
        ("flash_attention: true", "flash_attention: true needs precision: mixed_bfloat16, not float32"),
    ],
)
def test_what_it_cannot_do_is_refused(settings, sentence):
    key, value = settings.split(": ")
    with pytest.raises(RecipeError, match=sentence):
        load_recipe("bert_tiny", ["training.backend=jax", f"training.{key}={value}"])


def test_its_strategy_is_not_tensorflows():
    with pytest.raises(RecipeError, match=r"data_parallel .*backend: tensorflow; .*none, mirr"):
        load_recipe("bert_tiny", ["training.strategy=data_parallel"])


FUSED = ("training.backend=jax", "training.precision=mixed_bfloat16", "training.flash_attention=true")


@pytest.mark.parametrize(
    "preset, sentence",
    [
        ("bert_tiny", r"no dropout; model\.attention\.dropout is 0\.1, and 0 works"),
        ("t5_tiny", r"no scores of distances, which model\.positions adds"),
        ("deberta_v3_tiny", r"no scores of distances, which model\.positions adds"),
        ("xlnet_tiny", "no attention that the kernel knows"),
        ("elmo_tiny", "no attention that the kernel knows"),
    ],
)
def test_a_model_that_the_fused_kernel_cannot_compute_is_refused(preset, sentence):
    with pytest.raises(RecipeError, match=f"flash_attention: true .*{sentence}"):
        load_recipe(preset, FUSED)


def test_the_fused_kernel_is_for_jax():
    with pytest.raises(RecipeError, match=r"flash_attention: true .*backend: jax, .*tensorflow"):
        load_recipe("bert_tiny", FUSED[1:])
    assert load_recipe("bert_tiny", [*FUSED, "model.attention.dropout=0"]).training.flash_attention


def test_it_takes_replicas_and_xlnet():
    overrides = ["training.backend=jax", "training.strategy=data_parallel", "training.replicas=2"]
    assert load_recipe("bert_tiny", overrides).training.backend == "jax"
    assert load_recipe("xlnet_tiny", ["training.backend=jax"]).training.backend == "jax"


DIVIDED = ("training.backend=jax", "training.strategy=model_parallel")


@pytest.mark.parametrize(
    "preset, mesh, settings, sentence",
    [
        ("bert_base", "{model: 5}", (), r"mesh\.model: 5 does not divide model\.attention\.heads: 12.*is 4"),
        ("bert_base", "{model: 8}", (), r"mesh\.model: 8 does not divide model\.attention\.heads: 12.*is 6"),
        (
            "llama_3_2_1b",
            "{model: 16}",
            (),
            r"does not divide model\.attention\.key_value_heads: 8; the nearest number.*is 8",
        ),
        (
            "gpt2_small",
            "{model: 2}",
            (),
            r"vocabulary_size: 50257; the nearest size that it divides is 50258",
        ),
        ("xlnet_base", "{model: 5}", (), r"mesh\.model: 5 does not divide model\.attention\.heads: 12.*is 4"),
        ("electra_tiny", "{model: 2}", (), r"the generator's attention\.heads: 1; the nearest.*is 1"),
        (
            "bert_base",
            "{data: 3, model: 2}",
            ("training.batch_size=256", "training.earlier_stages=[]"),
            r"mesh\.data: 3 does not divide batch_size: 256; the nearest number that does is 2",
        ),
        ("bert_base", "null", (), r"strategy: model_parallel needs mesh, such as"),
    ],
)
def test_a_mesh_that_does_not_divide_is_refused_with_the_nearest_that_does(preset, mesh, settings, sentence):
    with pytest.raises(RecipeError, match=sentence):
        load_recipe(preset, [*DIVIDED, f"training.mesh={mesh}", *settings])


def test_a_mesh_is_of_divided_weights_alone():
    overrides = ["training.backend=jax", "training.strategy=data_parallel", "training.mesh={model: 2}"]
    with pytest.raises(RecipeError, match=r"mesh: .*strategy: model_parallel, .*data_parallel"):
        load_recipe("bert_base", overrides)
    recipe = load_recipe("bert_base", [*DIVIDED, "training.mesh={data: 2, model: 6}"])
    assert recipe.training.devices == 12


def test_it_takes_parts_of_a_batch_and_blocks_computed_again():
    overrides = ["training.gradient_accumulation_steps=2", "training.rematerialisation=blocks"]
    assert load_recipe("bert_tiny", ["training.backend=jax", *overrides]).training.batch_parts == 2
