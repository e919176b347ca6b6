"""Floating point operations of a recipe's training, and its time on accelerators by published rates."""

import dataclasses
from collections.abc import Mapping

from firth.recipes.counting.heads import heads_of, lengths_of
from firth.recipes.counting.memory import memory_bytes, written_bytes
from firth.recipes.run.recipe import Recipe
from firth.recipes.run.stages import stages_of


@dataclasses.dataclass(frozen=True)
class Accelerator:
    """A device that a training runs on.

    Attributes:
        name: Name, as `--accelerator` takes it.
        rates: Floating point operations a second of dense matrix products, by `training.precision`.
        bandwidth: Bytes of its memory that are read or written in a second.
        memory: Bytes of its memory.
    """

    name: str
    rates: Mapping[str, float]
    bandwidth: float
    memory: float


def _of(name: str, float32: float, bfloat16: float, bandwidth: float, memory: float) -> Accelerator:
    rates = {"float32": float32 * 1e12, "mixed_bfloat16": bfloat16 * 1e12}
    return Accelerator(name, rates, bandwidth * 1e9, memory * 1e9)


# TFLOP/s in float32 without TensorFloat-32, TFLOP/s in bfloat16 without sparsity, GB/s, GB: NVIDIA's data
# sheets of A100 80GB SXM, L4, H100 SXM and H200 SXM, and Google's of a chip of the TPUs. There XLA multiplies
# float32 in bfloat16, unless a program asks for another precision.
ACCELERATORS = {
    each.name: each
    for each in (
        _of("a100", 19.5, 312, 2_039, 80),
        _of("l4", 30.3, 121, 300, 24),
        _of("h100", 67, 989, 3_350, 80),
        _of("h200", 67, 989, 4_800, 141),
        _of("tpu_v5e", 197, 197, 819, 16),
        _of("tpu_v5p", 459, 459, 2_765, 95),
        _of("tpu_v6e", 918, 918, 1_638, 32),
    )
}
# An activation is written, read by what comes next and by the backward pass, and its gradient written and
# read.
_PASSES = 5
# The gradient is written, read for its norm and read for the update; the weight is read and written.
_PASSES_OF_GRADIENT, _PASSES_OF_WEIGHT, _PASSES_OF_MOMENTS = 3, 2, 2


def step_seconds(recipe: Recipe, accelerator: Accelerator) -> dict[str, float]:
    """Returns the seconds of one step of the last stage, by what takes them: an estimate.

    `products` are the matrix products of `training_flops_per_step` at the accelerator's rate; with
    rematerialisation the forward pass counts twice. `memory` is the traffic of activations, gradients,
    weights and moments at its bandwidth. Where both overlap, or kernels are fused, a step takes less; where
    products are too small to keep the device busy, more.

    Example:

    >>> from firth.recipes.counting.accelerators import ACCELERATORS
    >>> from firth.recipes.reading.loading import load_recipe
    >>> found = step_seconds(load_recipe("gpt2_small"), ACCELERATORS["h100"])
    >>> sorted(found)
    ['memory', 'products', 'total']
    """
    again = recipe.training.rematerialisation == "blocks"
    parts = recipe.training.gradient_accumulation_steps
    held = memory_bytes(recipe, last_stage=True)
    # All that a block keeps is written and read twice where it is computed again.
    kept = written_bytes(recipe)
    moved = (
        (_PASSES + (2 if again else 0)) * kept
        + _PASSES_OF_GRADIENT * held["gradients"] * parts
        + _PASSES_OF_WEIGHT * held["weights"]
        + _PASSES_OF_MOMENTS * held["moments"]
    )
    products = training_flops_per_step(recipe) * (4 / 3 if again else 1)
    seconds = {
        "products": products / accelerator.rates[recipe.training.precision],
        "memory": moved / accelerator.bandwidth,
    }
    return {**seconds, "total": sum(seconds.values())}


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
