"""The budget of AdaLoRA: how many entries of all diagonals are left, and which."""

from collections.abc import Mapping, Sequence
from typing import Any

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

    Args:
        additions: Additions, built, each with the weights of `SingularValueAddition`.
        method: The recipe's method.

    Example: see `tests/tuning/rank_allocation_test.py`.
    """

    def __init__(self, additions: Sequence[Any], method: AdaLoRA) -> None:
        self._additions, self._method = list(additions), method
        self._steps = 0

    def plan(self, steps: int) -> None:
        """Prepares for a run.

        Args:
            steps: Number of updates of the run.

        Raises:
            TuningError: if no step is left in which the number of entries may fall.
        """
        if problems := list(self._method.steps_conflicts(steps)):
            raise TuningError("\n".join(problems))
        self._steps = steps

    def budget(self, step: Any) -> Tensor:
        """Returns how many entries of all diagonals may be left after an update, float64 [].

        Args:
            step: Number of updates made, an integer scalar.
        """
        method, end = self._method, self._steps - self._method.final_steps
        first, last = (rank * len(self._additions) for rank in (method.initial_rank, method.target_rank))
        step = ops.cast(step, "float64")
        left = 1.0 - (step - method.initial_steps) / (end - method.initial_steps)
        falling = ops.floor((first - last) * ops.power(ops.clip(left, 0.0, 1.0), 3.0) + last)
        return ops.where(step <= method.initial_steps, ops.cast(first, "float64"), falling)

    def observe(self, gradients: Mapping[str, Tensor], updates: Any) -> None:
        """Renews the scores, and sets the entries that matter least to zero.

        Args:
            gradients: Gradients of the whole batch by the paths of the trained weights.
            updates: Number of updates that the run has made, this one included, an integer scalar.
        """
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
            addition.kept.assign(ops.where(is_taken, found, addition.kept))
            left = ops.where(is_taken | is_over, ops.convert_to_tensor(addition.kept), ops.ones_like(found))
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
            variable.assign(ops.where(counts > 0, value, variable))

    def _threshold(self, scores: Tensor, step: Tensor) -> Tensor:
        """Returns the greatest score of those that are taken away; below all where none is."""
        taken = scores.shape[0] - ops.cast(self.budget(step), "int32")
        greatest = ops.take(ops.sort(scores), ops.maximum(taken - 1, 0))
        return ops.where(taken > 0, greatest, -1.0)


def _scores(addition: Any) -> Tensor:
    """Returns how much each entry of an addition's diagonal matters, float32 [rank]."""
    down, own, up = (
        getattr(addition, f"{name}_sensitivity") * getattr(addition, f"{name}_uncertainty") for name in _PARTS
    )
    return own + ops.mean(down, axis=0) + ops.mean(up, axis=1)
