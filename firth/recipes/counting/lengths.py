"""The number of tokens of a row that each part of a model reads."""

import dataclasses

from firth.recipes.run.recipe import Recipe


@dataclasses.dataclass(frozen=True)
class Lengths:
    """Lengths of one row.

    Attributes:
        input: Tokens that the encoder, or the only stack, reads.
        target: Tokens that a decoder next to an encoder reads; 0 without one.
        selected: Predictions at chosen positions; 0 if every position predicts.
        documents: Most documents of a row.
    """

    input: int
    target: int = 0
    selected: int = 0
    documents: int = 1


def lengths_of(recipe: Recipe) -> Lengths:
    """Returns the lengths of a recipe's rows.

    Args:
        recipe: Recipe of one stage.

    Example:

    >>> from firth.recipes.reading.loading import load_recipe
    >>> lengths_of(load_recipe("bert_base"))
    Lengths(input=512, target=0, selected=76, documents=8)
    """
    objective, sequences = recipe.objective, recipe.sequences
    return Lengths(
        objective.input_length(sequences),
        objective.target_length(sequences),
        objective.predictions,
        sequences.max_documents,
    )
