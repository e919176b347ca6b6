"""Bundles as far as recipes look at them: a recipe, and files in the places of weights and tokenizer."""

import functools
import pathlib

from firth.recipes import load_recipe, recipe_to_yaml


@functools.cache
def recipe_text(preset: str, *overrides: str) -> str:
    """Returns the recipe of a preset with some changes, as it is written, which many tests ask for."""
    return recipe_to_yaml(load_recipe(preset, overrides))


def write_bundle(
    folder: pathlib.Path, *overrides: str, weights: str = "weights", preset: str = "bert_tiny"
) -> None:
    """Writes a bundle of a preset, with some changes; what stood in its place is overwritten."""
    files = {
        "recipe.yaml": recipe_text(preset, *overrides),
        "weights.safetensors": weights,
        "tokenizer/vocab.txt": "a\n",
    }
    for name, text in {**files, "_SUCCESS": "{}"}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
