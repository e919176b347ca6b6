"""A run's stages: rows of one length after rows of another, under one optimizer."""

from typing import TYPE_CHECKING, Any, NamedTuple

from firth.recipes.training.training import Training

if TYPE_CHECKING:
    from firth.recipes.run.run_recipe import RunRecipe


class RunStage(NamedTuple):
    """The steps `start` to `end` - 1 of a run.

    Attributes:
        start: First step of the stage, counted from 0.
        end: First step after the stage.
        recipe: Recipe of the run with the stage's length, batch and predictions, and without stages.
    """

    start: int
    end: int
    recipe: Any


def stages_of(recipe: "RunRecipe") -> tuple[RunStage, ...]:
    """Returns the stages of a run, in order; the last one is described by the recipe itself.

    The last stage has at least one step; in a run of few steps, an earlier one may have no step.

    Example:

    >>> from firth.recipes.reading.loading import load_recipe
    >>> [(start, end, stage.sequences.length) for start, end, stage in stages_of(load_recipe("bert_base"))]
    [(0, 900000, 128), (900000, 1000000, 512)]
    """
    stages, start, fraction = [], 0, 0.0
    for stage in recipe.training.earlier_stages:
        objective = recipe.goal
        if stage.max_predictions is not None:
            objective = objective.model_copy(update={"max_predictions": stage.max_predictions})
        own = {
            "sequences": recipe.sequences.model_copy(update={"length": stage.length}),
            recipe.goal_key: objective,
            "training": _without_stages(recipe, batch_size=stage.batch_size),
        }
        fraction += stage.steps_fraction
        end = min(round(fraction * recipe.training.steps), recipe.training.steps - 1)
        stages.append(RunStage(start, end, recipe.model_copy(update=own)))
        start = end
    last = recipe.model_copy(update={"training": _without_stages(recipe)})
    return (*stages, RunStage(start, recipe.training.steps, last))


def _without_stages(recipe: "RunRecipe", **changes: Any) -> Training:
    return recipe.training.model_copy(update={"earlier_stages": (), **changes})


def rows_folder(length: int) -> str:
    """Returns the name of the folder where SequenceGen keeps the training rows of an earlier stage, next to
    its splits.

    Example:

    >>> rows_folder(128)
    'rows-of-128'
    """
    return f"rows-of-{length}"
