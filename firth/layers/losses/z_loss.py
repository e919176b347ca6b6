"""The z-loss, which keeps the sum of the exponentials of logits near 1."""

from typing import Any

from keras import ops

from firth.layers.elements.types import Tensor


def with_z_loss(log_totals: Tensor, factor: float) -> Tensor:
    """Returns `z + factor * z ** 2` (Chowdhery et al. 2022, "PaLM", section 5; Zoph et al. 2022, "ST-MoE").

    Returns:
        float32 [count].
    """
    return log_totals + factor * ops.square(log_totals) if factor else log_totals


def z_loss_slopes(log_totals: Tensor, factor: float) -> Any:
    """Returns the derivative of `with_z_loss`: float32 [count], or 1.0 without a factor."""
    return 1.0 + 2.0 * factor * log_totals if factor else 1.0
