"""What a recipe that adapts a model takes from its labelled data."""

from typing import Any, TypeVar

from firth.recipes.run.adapting import AdaptingRecipe
from firth.tasks.labelled_data import class_names, published_scores

AdaptingT = TypeVar("AdaptingT", bound=AdaptingRecipe)


def with_labels(recipe: AdaptingT) -> AdaptingT:
    """Returns a recipe with what it leaves open to its data.

    Empty `task.labels` become the classes of the data: in the order of a published format, or else the names
    that the training records have, sorted. `task.scores` that the recipe does not state become those that are
    published of the format.

    Args:
        recipe: Recipe that adapts a model.

    Raises:
        ValueError: if the training data cannot be read, or do not fit the task.
    """
    task, filled = recipe.task, dict[str, Any]()
    if getattr(task, "labels", None) == ():
        filled["labels"] = class_names(recipe.data, task)
    scores = published_scores(recipe.data)
    if scores and "scores" not in task.model_fields_set:
        filled["scores"] = scores
    if not filled:
        return recipe
    stated = {name: getattr(task, name) for name in task.model_fields_set}
    return recipe.model_copy(update={"task": type(task)(**{**stated, **filled})})
