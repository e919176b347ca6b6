"""Floating point operations of a recipe's training."""

from firth.recipes.counting.heads import heads_of, lengths_of
from firth.recipes.run.recipe import Recipe
from firth.recipes.run.stages import stages_of


def training_flops(recipe: Recipe) -> int:
    """Returns the floating point operations of the whole training, the stages added up.

    Args:
        recipe: Recipe of the whole run.
    """
    stages = stages_of(recipe)
    return sum((end - start) * training_flops_per_step(stage) for start, end, stage in stages)


def training_tokens(recipe: Recipe) -> int:
    """Returns the tokens of all rows that are read in training, padding included.

    Args:
        recipe: Recipe of the whole run.

    Example:

    >>> from firth.recipes.reading.loading import load_recipe
    >>> training_tokens(load_recipe("bert_base"))
    131072000000
    """
    return sum(
        (end - start) * stage.training.batch_size * stage.sequences.length
        for start, end, stage in stages_of(recipe)
    )


def training_flops_per_step(recipe: Recipe) -> int:
    """Returns the floating point operations of one optimizer step over the whole batch, in the last stage.

    Counted are the matmuls, a multiply and an add as two operations, forward once and backward twice:
    attention over whole rows (scores that packing or causality masks are counted as if computed), the
    vocabulary projection at the positions that are predicted, ELMo's sampled softmax over the drawn words,
    and ELECTRA's generator. Norms, activations, look-ups and the optimizer are left out, about 2% of the
    operations.

    Args:
        recipe: Recipe of a run, or of one of its stages.

    Example:

    >>> from firth.recipes.corpus.sources import TextSource
    >>> recipe = Recipe(name="base", sources=(TextSource(kind="text", paths=("*.txt",)),))
    >>> f"{training_flops_per_step(recipe):.3e}"
    '1.791e+13'
    """
    backbone, heads = recipe.model.work(lengths_of(recipe)), heads_of(recipe).work()
    batch = recipe.training.batch_size * (backbone.row + heads.row)
    return 3 * 2 * (batch + backbone.step + heads.step)
