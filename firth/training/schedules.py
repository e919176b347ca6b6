"""Schedules of the learning rate."""

import math
from typing import Any

import keras
import tensorflow as tf

from firth.recipes.training.optimizers import AnyOptimizer


@keras.saving.register_keras_serializable("firth")
class WarmupSchedule(keras.optimizers.schedules.LearningRateSchedule):
    """Learning rate that climbs linearly to its peak and then goes down, or stays.

    Update t of `steps`, counted from 0, is made with `peak x (t + 1) / warmup_steps` in the warm-up. After
    it, with `done` the share of the steps after the warm-up that have been made:

    - `linear`: `peak x (1 - done)`, down to `final_fraction` of the peak.
    - `cosine`: `peak x (1 + cos(pi x done)) / 2`, likewise.
    - `constant`: `peak`.
    - `inverse_square_root`: `peak x sqrt(warmup_steps / max(t + 1, warmup_steps))` from the first step on, so
      there is no climb (Raffel et al. 2019, section 3.1.2).

    Args:
        peak: Highest learning rate.
        warmup_steps: Number of steps of the climb.
        steps: Number of steps of the whole run.
        decay: Name of the schedule after the climb, one of the four.
        final_fraction: Share of the peak that is left at the last step.
        first: Number of the first update, of an optimizer that has made some before.

    Example:

    >>> schedule = WarmupSchedule(1.0, warmup_steps=2, steps=6)
    >>> [float(schedule(t)) for t in range(7)]
    [0.5, 1.0, 1.0, 0.75, 0.5, 0.25, 0.0]
    """

    def __init__(
        self,
        peak: float,
        warmup_steps: int,
        steps: int,
        decay: str = "linear",
        final_fraction: float = 0.0,
        first: int = 0,
    ) -> None:
        if decay not in ("linear", "cosine", "constant", "inverse_square_root"):
            raise ValueError(
                f"`decay` is linear, cosine, constant or inverse_square_root. Received: {decay!r}"
            )
        self.peak, self.warmup_steps, self.steps = peak, warmup_steps, steps
        self.decay, self.final_fraction, self.first = decay, final_fraction, first

    def __call__(self, step: tf.Tensor) -> tf.Tensor:
        """Returns the rate of update `step`, float32 []."""
        step = tf.cast(step - self.first, tf.float32)
        warmup = float(max(self.warmup_steps, 1))
        if self.decay == "inverse_square_root":
            return self.peak * tf.sqrt(warmup / tf.maximum(step + 1.0, warmup))
        return self.peak * tf.where(step < self.warmup_steps, (step + 1.0) / warmup, self._after(step))

    def _after(self, step: tf.Tensor) -> tf.Tensor:
        if self.decay == "constant":
            return tf.ones_like(step)
        left = (self.steps - step) / max(self.steps - self.warmup_steps, 1)
        left = tf.clip_by_value(left, 0.0, 1.0)
        if self.decay == "cosine":
            left = 0.5 * (1.0 - tf.cos(math.pi * left))
        return self.final_fraction + (1.0 - self.final_fraction) * left

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments that rebuild this schedule."""
        return {
            "peak": self.peak,
            "warmup_steps": self.warmup_steps,
            "steps": self.steps,
            "decay": self.decay,
            "final_fraction": self.final_fraction,
            "first": self.first,
        }


def build_schedule(config: AnyOptimizer, steps: int, first: int = 0) -> WarmupSchedule:
    """Returns the learning rate of each update of a run.

    Args:
        config: Optimizer of the recipe.
        steps: Number of steps of the whole run.
        first: Number of the run's first update, where its optimizer has made some before.
    """
    return WarmupSchedule(
        config.learning_rate, config.warmup_steps, steps, config.schedule, config.final_fraction, first
    )
