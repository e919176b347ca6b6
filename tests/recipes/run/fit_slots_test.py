"""Slots are for models that write after one text, and their rows are no longer than those of the recipe."""

import pytest

from firth.recipes import load_recipe
from firth.recipes.base.errors import RecipeError
from firth.recipes.run.fit import slot_sequences


@pytest.mark.parametrize("name", ["gpt2_tiny", "prefix_lm_tiny", "t5_tiny", "bart_tiny"])
def test_models_that_write_have_slots(name):
    recipe = load_recipe(name, ["export.slots=4", "export.slot_length=16"])
    assert slot_sequences(recipe).length == 16
    assert slot_sequences(load_recipe(name, ["export.slots=4"])) == recipe.sequences


@pytest.mark.parametrize(
    "name, changes, message",
    [
        ("bert_tiny", ["slots=2"], r"export\.slots: a model that is trained for masked_lm writes no text"),
        ("elmo_tiny", ["slots=2"], r"export\.slots: a model that reads words by their characters does not"),
        (
            "gpt2_tiny",
            ["slots=2", "slot_length=4096"],
            r"export\.slot_length: 4096 is above sequences\.length",
        ),
        ("gpt2_tiny", ["slot_length=16"], r"export\.slot_length: it needs export\.slots: 1 or more"),
        (
            "gpt2_tiny",
            ["slots=2", "top_log_probabilities=50000"],
            r"export\.top_log_probabilities: 50000 is above tokenizer\.vocabulary_size: 8192",
        ),
        ("gpt2_tiny", ["slots=-1"], r"export\.slots: must be greater than or equal to 0, not -1"),
    ],
)
def test_what_does_not_fit_is_refused_with_a_sentence(name, changes, message):
    with pytest.raises(RecipeError, match=message):
        load_recipe(name, [f"export.{each}" for each in changes])
