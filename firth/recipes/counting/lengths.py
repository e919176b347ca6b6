"""How many tokens of a row each part of a model reads."""

import dataclasses

from firth.recipes.run.recipe import Recipe


@dataclasses.dataclass(frozen=True)
class Lengths:
    """Of one row.

    Attributes:
        input: Tokens as the encoder, or the only stack, reads them.
        target: Tokens as a decoder next to an encoder reads them; 0 without one.
        selected: Predictions at chosen positions; 0 where every position predicts.
        documents: Most of a row.
    """

    input: int
    target: int = 0
    selected: int = 0
    documents: int = 1


def lengths_of(recipe: Recipe) -> Lengths:
    """Returns the lengths of a recipe's rows.

    Example:

    >>> from firth.recipes.reading.loading import load_recipe
    >>> lengths_of(load_recipe("bert_base"))
    Lengths(input=512, target=0, selected=76, documents=8)
    """
    objective, sequences = recipe.objective, recipe.sequences
    return Lengths(
        objective.input_length(sequences),
        objective.target_length(sequences),
        getattr(objective, "max_predictions", 0),
        sequences.max_documents,
    )
