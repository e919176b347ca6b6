"""What changes where a run goes on with another number of steps."""

import logging

from firth.recipes.run.run_recipe import RunRecipe
from firth.recipes.run.stages import stages_of
from firth.training.checkpoints import Progress
from firth.training.optimizers.schedules import build_schedule

# What it is told is drawn next to the steps.
_PROGRESS = logging.getLogger("firth.progress")


def tell_other_steps(recipe: RunRecipe, progress: Progress) -> None:
    """Says how the schedule changes, if a run goes on with another number of steps than it was to have.

    Args:
        recipe: Recipe of the run.
        progress: Progress that it goes on from.
    """
    planned, steps = progress.planned_steps, recipe.training.steps
    if planned in (0, steps) or progress.step >= steps:
        return
    first = recipe.base.updates if recipe.base else 0
    before, now = (
        float(build_schedule(recipe.training.optimizer, total, first)(first + progress.step))
        for total in (planned, steps)
    )
    text = (
        f"the run goes on from step {progress.step:,} with training.steps: {steps:,} in the place of "
        f"{planned:,}; the rate of its next update is {now:.3g}, where it would have been {before:.3g}"
        f"{_scheduled_text(recipe, progress)}{_stage_text(recipe, progress.step)}"
    )
    _PROGRESS.warning("%s", text, extra={"firth": {"kind": "notice", "text": text}})


def _scheduled_text(recipe: RunRecipe, progress: Progress) -> str:
    before, now = (
        recipe.goal.scheduled(progress.step / total)
        for total in (progress.planned_steps, recipe.training.steps)
    )
    return "".join(
        f", and {name} goes on from {value:.3g}, where it would from {before[name]:.3g}"
        for name, value in now.items()
    )


def _stage_text(recipe: RunRecipe, step: int) -> str:
    if not recipe.training.earlier_stages:
        return ""
    (length, end) = next(
        (stage.recipe.sequences.length, stage.end) for stage in stages_of(recipe) if step < stage.end
    )
    return f", and up to step {end:,} its rows have {length:,} tokens"
