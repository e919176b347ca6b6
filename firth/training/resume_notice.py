"""What is told where a run goes on: from which step, and what changes with another number of steps."""

import logging

from firth.recipes.run.run_recipe import RunRecipe
from firth.recipes.run.stages import stages_of
from firth.training.checkpoints import Progress
from firth.training.optimizers.schedules import build_schedule

# What it is told is drawn next to the steps.
_PROGRESS = logging.getLogger("firth.progress")


def tell_resume(recipe: RunRecipe, progress: Progress) -> None:
    """Says which step a run goes on from, and how the schedule changes if it was to have other steps."""
    planned, steps = progress.planned_steps, recipe.training.steps
    if not 0 < progress.step < steps:
        return
    text = f"the run goes on from step {progress.step:,}"
    text += _changes_text(recipe, progress) if planned not in (0, steps) else f" of {steps:,}"
    _PROGRESS.warning("%s", text, extra={"firth": {"kind": "notice", "text": text}})


def _changes_text(recipe: RunRecipe, progress: Progress) -> str:
    planned, steps = progress.planned_steps, recipe.training.steps
    first = recipe.base.updates if recipe.base else 0
    before, now = (
        float(build_schedule(recipe.training.optimizer, total, first)(first + progress.step))
        for total in (planned, steps)
    )
    return (
        f" with training.steps: {steps:,} in the place of {planned:,}; the rate of its next update is "
        f"{now:.3g}, where it would have been {before:.3g}"
        f"{_scheduled_text(recipe, progress)}{_stage_text(recipe, progress.step)}"
    )


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
