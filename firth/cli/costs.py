"""What a recipe costs, in sentences."""

from firth.analysis.quantities import bytes_text
from firth.recipes import Recipe
from firth.recipes.counting import memory_bytes, parameter_counts, training_flops_per_step

_TOTALS = ("total", "total_with_heads")


def cost_lines(recipe: Recipe) -> list[str]:
    """Returns parameters, FLOPs and memory of a recipe, a line each.

    Example:

    >>> from firth.recipes import load_recipe
    >>> print(cost_lines(load_recipe("bert_base"))[0])
    parameters: 109,482,240 with pooler, 110,106,428 with what the objective trains
    """
    counts, memory = parameter_counts(recipe), memory_bytes(recipe)
    flops, steps = training_flops_per_step(recipe), recipe.training.steps
    parts = (f"{name} {count:,}" for name, count in counts.items() if name not in _TOTALS)
    held = (f"{name} {bytes_text(size)}" for name, size in memory.items() if name != "total")
    trained = f"{counts['total_with_heads']:,} with what the objective trains"
    return [
        f"parameters: {counts['total']:,} with pooler, {trained}",
        f"  {', '.join(parts)}",
        f"training: {flops:.3g} FLOPs a step, {flops * steps:.3g} in {steps:,} steps",
        f"memory in training: about {bytes_text(memory['total'])}",
        f"  {', '.join(held)}",
    ]
