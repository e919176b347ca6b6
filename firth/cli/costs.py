"""Parameters, operations and memory of a recipe, in sentences."""

from firth.recipes import Recipe
from firth.recipes.counting import (
    memory_bytes,
    parameter_counts,
    total_bytes,
    training_flops,
    training_flops_per_step,
    training_tokens,
)
from firth.recipes.counting.accelerators import Accelerator, step_seconds
from firth.recipes.run.run_recipe import RunRecipe
from firth.recipes.run.stages import RunStage, stages_of
from firth.reports.quantities import bytes_text

_TOTALS = ("total", "total_with_heads")
# A device of a mesh holds a part of these.
_OF_WEIGHTS = {"weights", "gradients", "moments", "accumulated"}


def cost_lines(recipe: Recipe) -> list[str]:
    """Returns parameters, FLOPs and memory of a recipe, a line each.

    Example:

    >>> from firth.recipes import load_recipe
    >>> print(cost_lines(load_recipe("bert_base"))[0])
    parameters: 109,482,240; 110,106,428 in training, with the objective's heads
    """
    counts, memory = parameter_counts(recipe), memory_bytes(recipe)
    parts = (f"{name} {count:,}" for name, count in counts.items() if name not in _TOTALS)
    held = (f"{name} {bytes_text(size)}" for name, size in memory.items() if name != "total")
    total, trained = counts["total"], counts["total_with_heads"]
    heads = f"; {trained:,} in training, with the objective's heads" if trained != total else ""
    return [
        f"parameters: {total:,}{heads}",
        f"  {', '.join(parts)}",
        f"training: {training_flops(recipe):.3g} FLOPs and {training_tokens(recipe):,} tokens, padding "
        f"included, in {recipe.training.steps:,} steps",
        *(f"  {_stage_text(stage)}" for stage in stages_of(recipe)),
        f"memory in training: about {bytes_text(memory['total'])} at the peak of a step, where "
        "activations go as gradients come",
        f"  {', '.join(held)}",
    ]


def accelerator_lines(recipe: Recipe, accelerator: Accelerator) -> list[str]:
    """Returns lines on the memory and the time of a step on an accelerator.

    Example:

    >>> from firth.recipes import load_recipe
    >>> from firth.recipes.counting.accelerators import ACCELERATORS
    >>> print(accelerator_lines(load_recipe("bert_tiny"), ACCELERATORS["h100"])[0])
    h100: about 157.0 MB fits in 80.0 GB, and 53.2 MB in the host's memory while a checkpoint is written
    """
    memory, seconds = device_bytes(recipe), step_seconds(recipe, accelerator)
    held = memory["total"] - memory["checkpoint"]
    rate, devices = accelerator.rates[recipe.training.precision], recipe.training.devices
    fits = "fits in" if held <= accelerator.memory else "does not fit in"
    each, alone = (f" on each of {devices} devices", ", on one device alone,") if devices > 1 else ("", "")
    return [
        f"{accelerator.name}: about {bytes_text(held)}{each} {fits} {bytes_text(accelerator.memory)}, "
        f"and {bytes_text(memory['checkpoint'])} in the host's memory while a checkpoint is written",
        f"  a step of the last stage{alone} about {seconds['total']:.3g} s: products "
        f"{seconds['products']:.3g} s at {rate / 1e12:.3g} TFLOP/s, memory {seconds['memory']:.3g} s at "
        f"{bytes_text(accelerator.bandwidth)}/s",
    ]


def device_bytes(recipe: Recipe) -> dict[str, int]:
    """Returns the part of `memory_bytes` that one device holds.

    With `training.mesh`, these are its parts of the divided weights, and of their gradients and moments, next
    to all others. `activations` are those of its rows, for the whole model: an upper bound.
    """
    memory, training = memory_bytes(recipe), recipe.training
    rows = training.mesh.data if training.mesh else training.devices
    del memory["total"]
    memory["activations"] //= rows
    if training.mesh is not None:
        # Keras takes seconds to import, and a model without a mesh is counted by its types alone.
        from firth.models.builders import held_parameters

        held, parameters = held_parameters(recipe), parameter_counts(recipe)["total_with_heads"]
        for name in memory.keys() & _OF_WEIGHTS:
            memory[name] = memory[name] * held // parameters
    return {**memory, "total": total_bytes(memory)}


def backbone_lines(recipe: RunRecipe) -> list[str]:
    """Returns the parameters of a model, a line each; the model is not trained here from scratch."""
    counts = parameter_counts(recipe)
    parts = (f"{name} {count:,}" for name, count in counts.items() if name not in _TOTALS)
    return [f"parameters: {counts['total']:,}", f"  {', '.join(parts)}"]


def _stage_text(stage: RunStage) -> str:
    rows, length = stage.recipe.training.batch_size, stage.recipe.sequences.length
    flops = training_flops_per_step(stage.recipe)
    return (
        f"{stage.end - stage.start:,} steps of {rows:,} rows of {length:,} tokens, {flops:.3g} FLOPs a step"
    )


def count_text(count: int) -> str:
    """Returns a number of parameters as papers write it, in three digits.

    Example:

    >>> count_text(84_992), count_text(4_385_920), count_text(124_439_808), count_text(6_738_415_616)
    ('85.0K', '4.39M', '124M', '6.74B')
    """
    value, unit = float(count), ""
    for unit in ("", "K", "M", "B"):
        if value < 999.5 or unit == "B":
            break
        value /= 1000
    digits = 0 if not unit or value >= 99.95 else 1 if value >= 9.995 else 2
    return f"{value:.{digits}f}{unit}"
