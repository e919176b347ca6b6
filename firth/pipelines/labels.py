"""What a recipe that adapts a model takes from its labelled data."""

from typing import Any, TypeVar

from firth.recipes.base.types import configs_in, kinds_of
from firth.recipes.run.adapting import AdaptingRecipe
from firth.recipes.tasks.tasks import AnyTask
from firth.tasks.labelled_data import class_names, published_scores
from firth.tasks.readers import format_of
from firth.tasks.readers.records import PAIR

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


def task_of_format(name: str) -> dict[str, Any]:
    """Returns the task of a published data set, as a recipe says it.

    Args:
        name: Key of `firth.tasks.readers.FORMATS`.

    Raises:
        ValueError: for an unknown name, with the nearest; or if no kind of task is trained on it.

    Example:

    >>> task_of_format("rte")
    {'kind': 'classification', 'pair': True}
    """
    described: Any = format_of(name)
    labels = described.labels
    kinds = [kind for each in configs_in(AnyTask) for kind in kinds_of(each)]
    if labels.task not in kinds:
        there = ", ".join(kinds)
        raise ValueError(f"{described.title} is a task of the kind {labels.task}; there are {there}")
    said = {"kind": labels.task, "pair": PAIR in described.texts}
    positive = getattr(labels, "positive", None)
    return {**said, "positive": positive} if positive else said
