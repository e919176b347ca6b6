"""The number of tokens of a row that each part of a model reads."""

from firth.recipes.models.counts import Lengths
from firth.recipes.run.run_recipe import RunRecipe


def lengths_of(recipe: RunRecipe) -> Lengths:
    """Returns the lengths of a recipe's rows.

    Example:

    >>> from firth.recipes.reading.loading import load_recipe
    >>> lengths_of(load_recipe("bert_base"))
    Lengths(input=512, target=0, selected=76, documents=8)
    """
    objective, sequences = recipe.goal, recipe.sequences
    return Lengths(
        objective.input_length(sequences),
        objective.target_length(sequences),
        objective.predictions,
        sequences.max_documents,
    )
