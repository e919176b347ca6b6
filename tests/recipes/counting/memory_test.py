import pytest

from firth.recipes import (
    MaskedLM,
    Training,
)
from firth.recipes.counting import memory_bytes, parameter_counts
from firth.recipes.models.block_counts import LONGEST_WHOLE, block_bytes
from firth.recipes.models.facts import FLOAT32, Lengths
from firth.recipes.objectives.generator import generator_of
from firth.recipes.reading.loading import load_recipe
from firth.recipes.training.optimizers import AdafactorConfig, AdagradConfig, AdamWConfig, LambConfig
from tests.models.table import MODELS, OTHERS
from tests.recipes.counting.counted import BASE, LARGE, recipe


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


def test_a_block_keeps_its_formula():
    """A token has 19 vectors as wide as the model, and 2 scores a head and key.

    Four vectors of GELU, two of norms and the softmax are float32 in either precision.
    """
    width, scores = 512 * 768, 12 * 512 * 512
    assert block_bytes(BASE, 512, 4) == 4 * (19 * width + 2 * scores)
    assert block_bytes(BASE, 512, 2) == (4 * 6 + 2 * 13) * width + (4 + 2) * scores


def test_activations_grow_with_the_batch_and_shrink_with_the_precision():
    one, two = (memory_bytes(recipe(BASE, training=Training(batch_size=size))) for size in (1, 2))
    assert two["activations"] == 2 * one["activations"]
    half = memory_bytes(recipe(BASE, training=Training(batch_size=1, precision="mixed_bfloat16")))
    whole, halved = (BASE.activations(Lengths(input=128, selected=20), number).blocks for number in (4, 2))
    # Products read a copy of the weights.
    copies = 2 * 110_106_428
    assert one["activations"] - (half["activations"] - copies) == whole - halved


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

    def activations(layers):
        shape = model.model_copy(update={"layers": layers, "share_layers": None, "decoder_layers": None})
        return shape.activations(lengths, FLOAT32)

    states = 64 + (32 if model.has_decoder else 0)
    if name == "xlnet":
        states += 64 + 8
    six, seven = activations(6), activations(7)
    assert seven.inputs - six.inputs == FLOAT32 * states * model.width
    assert seven.block == six.block and seven.inputs + seven.block < seven.blocks


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
        model.activations(Lengths(input=length, target=length, selected=length // 2), FLOAT32)
        for length in (LONGEST_WHOLE, 2 * LONGEST_WHOLE, 4 * LONGEST_WHOLE)
    )
    assert (twice.blocks, twice.gradients) == (2 * whole.blocks, 2 * whole.gradients)
    assert whole.blocks < half.blocks


@pytest.mark.parametrize("model, published", [(BASE, 109_482_240), (LARGE, 335_141_888)])
def test_published_parameter_counts(model, published):
    assert parameter_counts(recipe(model))["total"] == published


def test_parts_of_bert_base():
    counts = parameter_counts(recipe(BASE))
    assert counts["embeddings"] == 23_837_184
    assert counts["encoder"] == 12 * 7_087_872
    assert counts["pooler"] == 590_592
    assert counts["masked_lm_head"] == 590_592 + 1_536 + 30_522
    assert counts["next_sentence_head"] == 1_538
    assert counts["total_with_heads"] == counts["total"] + 622_650 + 1_538


def test_without_next_sentences_neither_pooler_nor_its_head_is_trained():
    counts = parameter_counts(recipe(BASE, objective=MaskedLM(next_sentence=False)))
    assert counts["total"] == 109_482_240
    assert counts["total_with_heads"] == counts["total"] - 590_592 + 622_650
