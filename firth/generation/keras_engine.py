"""Keras as an engine of `firth.generation.engines`, with the functions that every engine has."""

import os
from typing import Any

from firth.generation.generator import Generator
from firth.generation.text_generator import TextGenerator
from firth.models.bundle import load_model, read_recipe
from firth.recipes.run.base import TOKENIZER_FOLDER
from firth.tokenizers.storage import load_tokenizer

model_of = load_model


def generator_of(folder: str | os.PathLike[str], dtype: Any = None) -> TextGenerator:
    """Returns the generator of a bundle, which runs the Keras model."""
    tokenizer = load_tokenizer(os.path.join(folder, TOKENIZER_FOLDER))
    return Generator(model_of(folder, dtype), tokenizer, read_recipe(folder))
