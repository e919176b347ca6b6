"""Files of `benchmarks.workers.finetune_data.prepare`, as firth's worker reads them."""

import pathlib

import tensorflow as tf

from firth import features as names
from firth.recipes.run.adapting import AdaptingRecipe

ROWS, EXAMPLES, RECIPE, TOKENIZER = "rows", "examples.npz", "recipe.json", "tokenizer"


def read_recipe(folder: str) -> AdaptingRecipe:
    """Returns the recipe that `prepare` wrote."""
    return AdaptingRecipe.model_validate_json(pathlib.Path(folder, RECIPE).read_text())


def rows_pattern(folder: str) -> str:
    """Returns the pattern of the files of rows that `prepare` wrote."""
    return f"{folder}/{ROWS}/*"


def count_examples(batch: dict[str, tf.Tensor]) -> int:
    """Returns the number of records in a batch of rows: each is a document of its own."""
    return int(tf.reduce_sum(tf.reduce_max(batch[names.DOCUMENT_IDS], axis=1)))
