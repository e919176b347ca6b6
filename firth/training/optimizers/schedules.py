"""Schedules of the learning rate: functions of the recipe's steps and of the updates made so far.

Checkpoints keep no schedule. A resumed run makes it anew from the recipe that it is started with.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

import keras
from keras import ops

from firth.layers.elements.types import Tensor
from firth.recipes.base.recipe_type import config_of
from firth.recipes.training.optimizers import (
    AnyOptimizer,
    AnySchedule,
    ScheduleConfig,
    WarmupStableDecayScheduleConfig,
)


@keras.saving.register_keras_serializable("firth")
class WarmupSchedule(keras.optimizers.schedules.LearningRateSchedule):
    """Learning rate that climbs linearly to its peak and then decreases, or stays.

    Update t of `steps`, counted from 0, is made with `peak x (t + 1) / warmup_steps` in the warm-up. After
    it, with `done` the share of the steps after the warm-up that have been made:

    - `linear`: `peak x (1 - done)`, down to `final_fraction` of the peak.
    - `cosine`: `peak x (1 + cos(pi x done)) / 2`, likewise.
    - `constant`: `peak`.
    - `warmup_stable_decay`: `peak`, and in the last `decay_fraction` of all steps, of which `done` is the
      share that has been made, `peak x (1 - done)`, `peak x (1 - sqrt(done))` or `peak x final_fraction **
      done`, down to `final_fraction` of the peak (Hu et al. 2024, "MiniCPM", section 4).
    - `inverse_square_root`: `peak x sqrt(warmup_steps / max(t + 1, warmup_steps))` from the first step on, so
      there is no climb (Raffel et al. 2019, section 3.1.2).

    Args:
        peak: Highest learning rate.
        warmup_steps: Number of steps of the climb.
        steps: Number of steps of the whole run.
        decay: Schedule after the climb: one of the recipe types in `firth.recipes.training.optimizers`, its
            name, or a mapping of its values.
        final_fraction: Share of the peak that is left at the last step.
        first: Number of the first update, of an optimizer that has made some before.

    Raises:
        ValueError: for a schedule that does not exist, with the nearest one that does.

    Example:

    >>> schedule = WarmupSchedule(1.0, warmup_steps=2, steps=6)
    >>> [float(schedule(t)) for t in range(7)]
    [0.5, 1.0, 1.0, 0.75, 0.5, 0.25, 0.0]
    >>> decay = {"kind": "warmup_stable_decay", "decay_fraction": 0.5, "shape": "linear"}
    >>> [float(schedule(t)) for schedule in [WarmupSchedule(1.0, 0, 4, decay)] for t in range(5)]
    [1.0, 1.0, 1.0, 0.5, 0.0]
    """

    def __init__(
        self,
        peak: float,
        warmup_steps: int,
        steps: int,
        decay: ScheduleConfig | Mapping[str, Any] | str = "linear",
        final_fraction: float = 0.0,
        first: int = 0,
    ) -> None:
        values = {"kind": decay} if isinstance(decay, str) else decay
        self.decay = config_of("decay", AnySchedule, values)
        self.peak, self.warmup_steps, self.steps = peak, warmup_steps, steps
        self.final_fraction, self.first = final_fraction, first

    def __call__(self, step: Tensor) -> Tensor:
        """Returns the rate of update `step`, float32 []."""
        step = ops.cast(step - self.first, "float32")
        after = SCHEDULES[self.decay.kind](self, step)
        if not self.decay.climbs:
            return self.peak * after
        climb = (step + 1.0) / float(max(self.warmup_steps, 1))
        return self.peak * ops.where(step < self.warmup_steps, climb, after)

    def done(self, step: Tensor, begin: float) -> Tensor:
        """Returns the share of the steps from `begin` to the end that have been made, float32 [].

        Args:
            step: Number of an update, float32 [].
            begin: Number of the update that the share is 0 at.
        """
        return ops.clip((step - begin) / max(self.steps - begin, 1.0), 0.0, 1.0)

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments that rebuild this schedule."""
        return {
            "peak": self.peak,
            "warmup_steps": self.warmup_steps,
            "steps": self.steps,
            "decay": self.decay.model_dump(),
            "final_fraction": self.final_fraction,
            "first": self.first,
        }


def _linear(schedule: WarmupSchedule, step: Tensor) -> Tensor:
    return _above(schedule.final_fraction, 1.0 - schedule.done(step, schedule.warmup_steps))


def _cosine(schedule: WarmupSchedule, step: Tensor) -> Tensor:
    done = schedule.done(step, schedule.warmup_steps)
    return _above(schedule.final_fraction, 0.5 * (1.0 + ops.cos(math.pi * done)))


def _constant(schedule: WarmupSchedule, step: Tensor) -> Tensor:
    return ops.ones_like(step)


def _inverse_square_root(schedule: WarmupSchedule, step: Tensor) -> Tensor:
    warmup = float(max(schedule.warmup_steps, 1))
    return ops.sqrt(warmup / ops.maximum(step + 1.0, warmup))


def _warmup_stable_decay(schedule: WarmupSchedule, step: Tensor) -> Tensor:
    config: WarmupStableDecayScheduleConfig = schedule.decay
    # A decay that is longer than the steps after the warm-up begins with its end.
    begin = max(schedule.steps * (1.0 - config.decay_fraction), float(schedule.warmup_steps))
    return SHAPES[config.shape](schedule.done(step, begin), schedule.final_fraction)


def _above(final: float, left: Tensor) -> Tensor:
    """Returns the point between 1 and `final` with the share `left` of the way left."""
    return final + (1.0 - final) * left


# By `training.optimizer.schedule.kind`: the share of the peak after the warm-up.
SCHEDULES: dict[str, Callable[[WarmupSchedule, Tensor], Tensor]] = {
    "linear": _linear,
    "cosine": _cosine,
    "constant": _constant,
    "inverse_square_root": _inverse_square_root,
    "warmup_stable_decay": _warmup_stable_decay,
}
# By `shape` of a decay: the share of the peak once a share of the decay has been made.
SHAPES: dict[str, Callable[[Tensor, float], Tensor]] = {
    "linear": lambda done, final: _above(final, 1.0 - done),
    "one_minus_sqrt": lambda done, final: _above(final, 1.0 - ops.sqrt(done)),
    "exponential": lambda done, final: ops.power(final, done),
}


def build_schedule(config: AnyOptimizer, steps: int, first: int = 0) -> WarmupSchedule:
    """Returns the learning rate of each update of a run."""
    return WarmupSchedule(
        config.learning_rate, config.warmup_steps, steps, config.schedule, config.final_fraction, first
    )
