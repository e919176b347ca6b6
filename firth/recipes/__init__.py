"""Recipes: the language of a run. Importing this loads neither TensorFlow nor TFX."""

from firth.recipes.cleaning import (
    CharactersStep,
    Cleaning,
    ExactDuplicatesStep,
    LengthStep,
    NormalizeStep,
    Split,
)
from firth.recipes.errors import RecipeError
from firth.recipes.evaluation import Evaluation, Threshold
from firth.recipes.export import Export
from firth.recipes.loading import load_recipe, preset_names, recipe_to_yaml
from firth.recipes.model import Bert
from firth.recipes.objective import MaskedLM
from firth.recipes.recipe import Recipe
from firth.recipes.sources import DocstringsSource, JsonlSource, TextSource
from firth.recipes.tokenizer import Sequences, WordPieceTokenizer
from firth.recipes.training import AdamW, Training

__all__ = [
    "AdamW",
    "Bert",
    "CharactersStep",
    "Cleaning",
    "DocstringsSource",
    "Evaluation",
    "ExactDuplicatesStep",
    "Export",
    "JsonlSource",
    "LengthStep",
    "MaskedLM",
    "NormalizeStep",
    "Recipe",
    "RecipeError",
    "Sequences",
    "Split",
    "TextSource",
    "Threshold",
    "Training",
    "WordPieceTokenizer",
    "load_recipe",
    "preset_names",
    "recipe_to_yaml",
]
