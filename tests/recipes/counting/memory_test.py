import pytest

from firth.recipes import (
    Training,
)
from firth.recipes.counting import memory_bytes
from firth.recipes.models.block_counts import LONGEST_WHOLE, block_working
from firth.recipes.models.counts import FLOAT32, Kept, Lengths
from firth.recipes.objectives.generator import generator_of
from firth.recipes.reading.loading import load_recipe
from firth.recipes.training.optimizers import AdafactorConfig, AdagradConfig, AdamWConfig, LambConfig
from tests.models.table import MODELS, OTHERS
from tests.recipes.counting.counted import BASE, recipe


def test_memory_of_weights_and_optimizer_is_exact():
    memory = memory_bytes(recipe(BASE))
    assert memory["weights"] == memory["gradients"] == 4 * 110_106_428
    assert memory["moments"] == 8 * 110_106_428


def test_activations_and_gradients_are_not_held_at_once():
    """The larger of both counts."""
    few, many = (memory_bytes(recipe(BASE, training=Training(batch_size=size))) for size in (1, 64))
    for memory, name in ((few, "gradients"), (many, "activations")):
        always = memory["weights"] + memory["moments"] + memory["checkpoint"]
        update = memory["update"] if name == "gradients" else 0
        assert memory["total"] == always + memory[name] + update
    assert few["gradients"] > few["activations"] and many["gradients"] < many["activations"]


@pytest.mark.parametrize(
    "optimizer, kept, working", [(LambConfig(), 2, 4), (AdafactorConfig(), 0, 8), (AdagradConfig(), 1, 4)]
)
def test_optimizers_keep_different_numbers_of_each_weight(optimizer, kept, working):
    memory = memory_bytes(recipe(BASE, training=Training(optimizer=optimizer)))
    assert memory["moments"] == kept * memory["weights"]
    assert optimizer.bytes_working == working


def test_a_block_works_with_its_inner_layer_or_with_the_gradients_of_scores():
    """GELU over 3,072 units holds two float32 numbers for each; the block's input and output add 2 * 768."""
    assert block_working(BASE, keys=512, scores=1) == Kept(computed=2 * 768, float32=2 * 3072)
    # 12 heads with 4,096 scores, when the 3,072 units that the layer keeps, in both dtypes, are gone.
    of_scores = Kept(computed=12 * 4096 - 3072 + 2 * 768, float32=-3072)
    assert block_working(BASE, keys=512, scores=4096) == of_scores


def test_activations_grow_with_the_batch_and_shrink_with_the_precision():
    one, two = (memory_bytes(recipe(BASE, training=Training(batch_size=size))) for size in (1, 2))
    kernels = 4 * BASE.kernels_kept().computed
    assert two["activations"] - kernels == 2 * (one["activations"] - kernels)
    half = memory_bytes(recipe(BASE, training=Training(batch_size=1, precision="mixed_bfloat16")))
    kept = BASE.kept(Lengths(input=128, selected=20))
    # Products read a copy of the weights.
    copies = 2 * 110_106_428
    assert one["activations"] - (half["activations"] - copies) == 2 * kept.computed + kernels // 2


@pytest.mark.parametrize("config, key", [(AdamWConfig, "moments"), (AdagradConfig, "accumulator")])
def test_moments_in_bfloat16_take_half(config, key):
    whole, half = (
        memory_bytes(recipe(BASE, training=Training(optimizer=config(**{key: dtype}))))
        for dtype in ("float32", "bfloat16")
    )
    assert half["moments"] == whole["moments"] // 2
    # And of the copy that is written as a checkpoint.
    assert whole["checkpoint"] - half["checkpoint"] == half["moments"]


@pytest.mark.parametrize("name", [*MODELS, *OTHERS])
def test_blocks_that_are_computed_again_keep_their_inputs(name):
    """Of each further layer, of both stacks of an encoder-decoder, as many numbers as the states have."""
    model = {**MODELS, **OTHERS}[name]
    lengths = Lengths(input=64, target=32, selected=8)

    def kept(layers, again):
        shape = model.model_copy(update={"layers": layers, "share_layers": None, "decoder_layers": None})
        return shape.kept_by_block(lengths) if again else shape.kept(lengths)

    states = 64 + (32 if model.has_decoder else 0)
    if name == "xlnet":
        states += 64 + 8
    assert kept(7, True) == kept(6, True) + Kept(states * model.width)
    assert kept(7, True).bytes(FLOAT32) < kept(7, False).bytes(FLOAT32)


def test_a_generator_that_is_computed_again_keeps_the_inputs_of_its_blocks():
    """ELECTRA's generator: as many numbers of each block as its states have, and none of its blocks whole."""
    electra = load_recipe("electra_small")

    def activations(layers, again):
        objective = electra.objective.model_copy(update={"generator_layers_fraction": layers / 12})
        training = Training(batch_size=1, rematerialisation="blocks" if again else "none")
        update = {"objective": objective, "training": training, "stages": ()}
        return memory_bytes(electra.model_copy(update=update))["activations"]

    width = generator_of(electra.model, electra.objective).width
    assert activations(7, True) - activations(6, True) == 4 * width * electra.sequences.length
    assert activations(7, False) - activations(6, False) > 10 * 4 * width * electra.sequences.length


@pytest.mark.parametrize("name", [name for name in [*MODELS, *OTHERS] if name != "elmo"])
def test_long_rows_keep_no_scores(name):
    """From there on twice the tokens are twice the numbers."""
    model = {**MODELS, **OTHERS}[name]
    half, whole, twice = (
        model.kept(Lengths(input=length, target=length, selected=length // 8))
        for length in (LONGEST_WHOLE, 2 * LONGEST_WHOLE, 4 * LONGEST_WHOLE)
    )
    assert twice == 2 * whole
    assert whole.bytes(FLOAT32) < half.bytes(FLOAT32)
