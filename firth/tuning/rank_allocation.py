"""The budget of AdaLoRA: how many entries of all diagonals are left, and which."""

from collections.abc import Mapping, Sequence
from typing import Any

import keras
import numpy as np
import numpy.typing as npt
from keras import ops

from firth.layers.elements.gradient_observer import GradientObserver
from firth.layers.elements.types import Tensor
from firth.models.additions.holding import TuningError
from firth.recipes.tuning.adalora import AdaLoRA

_PARTS = ("down", "values", "up")


class RankAllocator(GradientObserver):
    """Takes away the entries of all diagonals that matter least, until there are as many as the method says.

    Zhang et al. 2023, "AdaLoRA: Adaptive Budget Allocation for Parameter-Efficient Fine-Tuning", section 3.2
    and algorithm 1. A weight matters by its smoothed sensitivity, `|w g|` for its gradient g, times its
    uncertainty, how far that moves; an entry of a diagonal by its own score and the means of those of the
    vectors next to it. The number of entries falls with the cube of the steps that are left.

    Example: see `tests/tuning/rank_allocation_test.py`.
    """

    def __init__(self, additions: Sequence[Any], method: AdaLoRA) -> None:
        self._additions, self._method = list(additions), method
        self._steps = 0
        self._falls = np.zeros(0, "int32")

    def plan(self, steps: int) -> None:
        """Prepares for a run."""
        if problems := list(self._method.steps_conflicts(steps)):
            raise TuningError("\n".join(problems))
        self._steps = steps
        self._falls = self._steps_of_falls()

    def _steps_of_falls(self) -> npt.NDArray[np.int32]:
        """Returns the first step at which each entry is gone, the first entry to go first.

        The schedule is computed here, once and in float64, which a step that JAX makes does not have.
        """
        method, end = self._method, self._steps - self._method.final_steps
        first, last = (rank * len(self._additions) for rank in (method.initial_rank, method.target_rank))
        steps = np.arange(method.initial_steps + 1, end + 1)
        left = 1.0 - (steps - method.initial_steps) / (end - method.initial_steps)
        budgets = np.floor((first - last) * left**3 + last)
        # The first step whose budget is at most first - 1, first - 2 and so on, down to the last.
        places = np.searchsorted(-budgets, -np.arange(first - 1, last - 1, -1))
        return steps[places].astype("int32")

    def budget(self, step: Any) -> Tensor:
        """Returns how many entries of all diagonals may be left after an update, int32 []."""
        first = self._method.initial_rank * len(self._additions)
        return first - ops.sum(ops.cast(ops.cast(step, "int32") >= self._falls, "int32"))

    def observe(self, gradients: Mapping[str, Tensor], updates: Any) -> None:
        """Renews the scores, and sets the entries that matter least to zero."""
        method, end = self._method, self._steps - self._method.final_steps
        step = ops.cast(updates, "int32")
        counts = ops.cast(step < end, "float32")
        for addition in self._additions:
            for name in _PARTS:
                self._smooth(addition, name, gradients[getattr(addition, name).path], counts)
        scores = ops.concatenate([_scores(each) for each in self._additions])
        is_kept = ops.cast(scores > self._threshold(scores, step), "float32")
        in_turn = (step > method.initial_steps) & (step < end) & (step % method.steps_between == 0)
        is_taken, is_over = in_turn | ops.equal(step, end), step > end
        begin = 0
        for addition in self._additions:
            found = is_kept[begin : begin + addition.rank]
            begin += addition.rank
            addition.kept.assign(ops.where(is_taken, found, _value(addition.kept)))
            left = ops.where(is_taken | is_over, _value(addition.kept), ops.ones_like(found))
            addition.values.assign(addition.values * ops.cast(left, addition.values.dtype))

    def _smooth(self, addition: Any, name: str, gradient: Tensor, counts: Tensor) -> None:
        method = self._method
        weight = getattr(addition, name)
        sensitivity, uncertainty = (
            getattr(addition, f"{name}_{score}") for score in ("sensitivity", "uncertainty")
        )
        now = ops.abs(ops.cast(weight * gradient, "float32"))
        smoothed = method.smoothing * sensitivity + (1.0 - method.smoothing) * now
        moved = method.uncertainty_smoothing * uncertainty
        moved += (1.0 - method.uncertainty_smoothing) * ops.abs(now - smoothed)
        for variable, value in ((sensitivity, smoothed), (uncertainty, moved)):
            variable.assign(ops.where(counts > 0, value, _value(variable)))

    def _threshold(self, scores: Tensor, step: Tensor) -> Tensor:
        """Returns the greatest score of those that are taken away; below all where none is."""
        taken = scores.shape[0] - self.budget(step)
        greatest = ops.take(ops.sort(scores), ops.maximum(taken - 1, 0))
        return ops.where(taken > 0, greatest, -1.0)


def _value(variable: keras.Variable) -> Tensor:
    """Returns the current value of a variable, which a choice must be made of.

    Keras hands the variable itself on from `ops.where` to JAX, which reads it outside of the step that is
    compiled: what it finds is the value before the first step.
    """
    return ops.convert_to_tensor(variable)


def _scores(addition: Any) -> Tensor:
    """Returns how much each entry of an addition's diagonal matters, float32 [rank]."""
    down, own, up = (
        getattr(addition, f"{name}_sensitivity") * getattr(addition, f"{name}_uncertainty") for name in _PARTS
    )
    return own + ops.mean(down, axis=0) + ops.mean(up, axis=1)
