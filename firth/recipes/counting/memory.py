"""Memory that a recipe's training needs."""

from firth.recipes.counting.activations import activation_bytes
from firth.recipes.counting.parameters import parameter_counts
from firth.recipes.run.recipe import Recipe
from firth.recipes.run.stages import stages_of

_FLOAT32 = 4


def memory_bytes(recipe: Recipe) -> dict[str, int]:
    """Returns the bytes that training holds at once, by what they hold.

    `weights`, `gradients` and `moments` are float32 under either precision, and exact: AdamW and LAMB keep
    two moments of each weight, Adafactor and Adagrad one. `activations` is an estimate of what the forward
    pass keeps for the backward pass over one batch, in the compute dtype, in the stage that needs most; see
    `firth.recipes.counting.activations`. The peak is above the sum by what the largest single operation
    needs. `activations` counts all replicas together; the others count one.

    Args:
        recipe: Recipe of the whole run.

    Example:

    >>> from firth.recipes.corpus.sources import TextSource
    >>> recipe = Recipe(name="base", sources=(TextSource(kind="text", paths=("*.txt",)),))
    >>> memory_bytes(recipe)["moments"]
    880851424
    """
    parameters = parameter_counts(recipe)["total_with_heads"]
    counts = {
        "weights": _FLOAT32 * parameters,
        "gradients": _FLOAT32 * parameters,
        "moments": recipe.training.optimizer.slots * _FLOAT32 * parameters,
        "activations": max(
            stage.training.batch_size * activation_bytes(stage) for _, _, stage in stages_of(recipe)
        ),
    }
    return {**counts, "total": sum(counts.values())}
