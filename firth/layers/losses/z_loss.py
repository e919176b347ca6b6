"""The z-loss, which keeps the sum of the exponentials of logits near 1."""

from typing import Any

from keras import ops

from firth.layers.elements.types import Tensor


def with_z_loss(log_totals: Tensor, factor: float) -> Tensor:
    """Returns `z + factor * z ** 2` (Chowdhery et al. 2022, "PaLM", section 5; Zoph et al. 2022, "ST-MoE").

    Args:
        log_totals: Float32 tensor [count], the logarithms z of the sums of the exponentials of all logits.
        factor: Factor of the squares, 1e-4 in PaLM; 0 adds nothing.

    Returns:
        float32 [count].
    """
    return log_totals + factor * ops.square(log_totals) if factor else log_totals


def z_loss_slopes(log_totals: Tensor, factor: float) -> Any:
    """Returns the derivative of `with_z_loss`: float32 [count], or 1.0 without a factor.

    Args:
        log_totals: Float32 tensor [count].
        factor: Factor of the squares.
    """
    return 1.0 + 2.0 * factor * log_totals if factor else 1.0
