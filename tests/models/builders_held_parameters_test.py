"""Parameters of a divided model on one device, counted by hand."""

import pytest

from firth.models.builders import held_parameters
from firth.recipes import load_recipe
from firth.recipes.counting import parameter_counts

DIVIDED = ("training.backend=jax", "training.strategy=model_parallel")
WIDTH, INNER, LAYERS, PIECES = 128, 512, 2, 30522
# Table and bias of the vocabulary; of a block, attention without its last bias, and the layer between.
OF_VOCABULARY = PIECES * (WIDTH + 1)
OF_BLOCK = 3 * WIDTH * (WIDTH + 1) + WIDTH * WIDTH + 2 * WIDTH * INNER + INNER


@pytest.mark.parametrize("mesh, parts", [("{data: 2, model: 1}", 1), ("{data: 1, model: 2}", 2)])
def test_a_device_holds_its_part_of_what_is_divided_and_all_else(mesh, parts):
    recipe = load_recipe("bert_tiny", [*DIVIDED, f"training.mesh={mesh}"])
    divided = OF_VOCABULARY + LAYERS * OF_BLOCK
    whole = parameter_counts(recipe)["total_with_heads"]
    assert held_parameters(recipe) == whole - divided + divided // parts
