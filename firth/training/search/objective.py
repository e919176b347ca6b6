"""What the trials of a search are compared by."""

import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import keras

from firth.recipes.run.run_recipe import RunRecipe
from firth.scores import compute, score_of
from firth.scores.table import PROBABILITIES, SCORED_ANSWERS
from firth.serving.served import Served
from firth.serving.tasks.held_out_choice import answers_to
from firth.tasks import TASKS
from firth.training.held_out import HeldOut, first_rows
from firth.training.history import HELD_OUT_LOSS


class TrialMeasure(NamedTuple):
    """A measure of trained models.

    Attributes:
        name: Name of the score, or of the loss.
        direction: `max` where a greater value is better, or else `min`.
    """

    name: str
    direction: str


def objective_of(recipe: RunRecipe) -> TrialMeasure:
    """Returns the first score of a recipe's task that answers alone give, or the held-out loss."""
    for name in getattr(recipe.goal, "score_names", ()):
        score = score_of(name)
        if score.inputs not in (PROBABILITIES, SCORED_ANSWERS):
            return TrialMeasure(name, "max" if score.greater_is_better else "min")
    return TrialMeasure(HELD_OUT_LOSS, "min")


def measured(
    objective: TrialMeasure, model: keras.Model, tokenizer: Any, recipe: RunRecipe, eval_files: Sequence[str]
) -> float:
    """Returns the value of a trained model."""
    if objective.name == HELD_OUT_LOSS:
        losses = HeldOut(model, tokenizer, recipe, eval_files)()
        if HELD_OUT_LOSS not in losses:
            raise ValueError("search: there are no held-out rows to compare trials by")
        return float(losses[HELD_OUT_LOSS])
    task: Any = recipe.goal
    found = answers_to(Served(model, tokenizer, recipe), first_rows(eval_files, sys.maxsize))
    join = getattr(TASKS[task.kind], "joined", None)
    examples = found if join is None else join(task, found)["examples"]
    if source := objective.name.rpartition(".")[0]:
        # Of several tasks.
        examples = [each for each in examples if each.source == source]
    return float(compute(objective.name, examples, **task.score_options(objective.name)).value)
