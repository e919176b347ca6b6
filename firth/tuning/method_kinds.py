"""The methods, by their kind in a recipe."""

from collections.abc import Callable
from typing import Any, TypeAlias

from firth.models.backbone_with_heads import BackboneWithHeads
from firth.tuning import adalora, additions, layers, projections
from firth.tuning.rate_multipliers import Multipliers

Prepare: TypeAlias = Callable[[BackboneWithHeads, Any, int], Multipliers]

METHODS: dict[str, Prepare] = {
    "full": layers.prepare_full,
    "head": layers.prepare_head,
    "last_layers": layers.prepare_last_layers,
    "discriminative": layers.prepare_discriminative,
    "gradual_unfreezing": layers.prepare_gradual_unfreezing,
    "lora": projections.prepare_lora,
    "adalora": adalora.prepare_adalora,
    "loha": projections.prepare_loha,
    "ia3": projections.prepare_ia3,
    "houlsby": additions.prepare_bottleneck,
    "pfeiffer": additions.prepare_bottleneck,
    "prefix_tuning": additions.prepare_prompts,
    "p_tuning_v2": additions.prepare_prompts,
    "prompt_tuning": additions.prepare_prompts,
    "p_tuning": additions.prepare_prompts,
    "multitask_prompt_tuning": additions.prepare_prompts,
}
"""Functions that prepare a built model for a method, by `recipe.method.kind`.

Each gets the model, the recipe's method and the number of steps of an epoch, and returns multipliers of the
rates of weights; none where all have the optimizer's own. It sets `trainable` of the weights. What it adds is
built when it returns: the optimizer is made for the model's trainable weights afterwards.
"""
