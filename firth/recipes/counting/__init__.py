"""Parameters, FLOPs and memory of a recipe, from its types alone, so that no model need be built to count."""

from firth.recipes.counting.flops import training_flops, training_flops_per_step, training_tokens
from firth.recipes.counting.memory import memory_bytes
from firth.recipes.counting.parameters import parameter_counts

__all__ = [
    "memory_bytes",
    "parameter_counts",
    "training_flops",
    "training_flops_per_step",
    "training_tokens",
]
