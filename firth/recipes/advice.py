"""What is worth saying of a recipe that can run as it is."""

from firth.recipes.recipe import Recipe


def notices(recipe: Recipe) -> list[str]:
    """Returns one line for each choice that works but is seldom meant.

    Example:

    >>> from firth.recipes import load_recipe
    >>> notices(load_recipe("bert_base", ["training.steps=5000"]))
    ['training.optimizer.warmup_steps: 10,000 is not below training.steps: 5,000, so the learning rate ...']
    """
    return [*_on_cleaning(recipe), *_on_training(recipe)]


def _on_cleaning(recipe: Recipe) -> list[str]:
    if not any(step.kind == "normalize" and step.mojibake for step in recipe.cleaning.steps):
        return []
    return [
        "cleaning.steps: normalize repairs mojibake, which a graph cannot, so the served model reads text as "
        "it is sent"
    ]


def _on_training(recipe: Recipe) -> list[str]:
    training, found = recipe.training, []
    optimizer, steps = training.optimizer, training.steps
    warmup = optimizer.warmup_steps
    # The inverse square root does not rise: it stays where it begins.
    if warmup >= steps and optimizer.schedule != "inverse_square_root":
        peak = optimizer.learning_rate * steps / warmup
        found.append(
            f"training.optimizer.warmup_steps: {warmup:,} is not below training.steps: {steps:,}, "
            f"so the learning rate peaks at {peak:.3g}"
        )
    return found
