"""AdaLoRA: products of small matrices whose ranks are shared out among the projections."""

from collections.abc import Mapping, Sequence
from typing import Any

import keras
import numpy as np
import numpy.typing as npt
from keras import ops

from firth.layers.elements.extensible_layer import GradientObserver
from firth.layers.elements.seeds import normal
from firth.layers.elements.types import Seed, Shape, Tensor
from firth.models.additions.addition_places import TuningError
from firth.models.additions.low_rank import LowRankAddition, low_rank_targets
from firth.models.backbone_with_heads import BackboneWithHeads
from firth.recipes.tuning.adding import AdaLoRA
from firth.tuning.additions import add_low_ranks
from firth.tuning.rate_multipliers import Multipliers

_STDDEV = 0.02
# Number that peft adds to the rank by which the product is divided.
_MORE = 1e-5


class Orthogonality(keras.regularizers.Regularizer):
    """Penalty of vectors that are not orthogonal and of length one: the Frobenius norm of `M M^T - I`.

    Zhang et al. 2023, "AdaLoRA: Adaptive Budget Allocation for Parameter-Efficient Fine-Tuning", equation 4;
    the norm is not squared, as in the authors' code and in peft.

    Example:

    >>> import numpy as np
    >>> float(Orthogonality(1.0, of_columns=False)(np.eye(2, 3, dtype="float32")))
    0.0
    """

    def __init__(self, factor: float, of_columns: bool) -> None:
        self.factor, self.of_columns = factor, of_columns

    def __call__(self, matrix: Tensor) -> Tensor:
        """Returns the penalty, float32 []."""
        matrix = ops.cast(matrix, "float32")
        across = ops.transpose(matrix)
        products = ops.matmul(across, matrix) if self.of_columns else ops.matmul(matrix, across)
        squares = ops.sum(ops.square(products - ops.eye(products.shape[0])))
        # The root has no gradient at zero, which exactly orthonormal vectors reach; that of the norm is zero.
        is_zero = ops.equal(squares, 0.0)
        return self.factor * ops.where(is_zero, 0.0, ops.sqrt(ops.where(is_zero, 1.0, squares)))

    def get_config(self) -> dict[str, Any]:
        """Returns the arguments that rebuild this regularizer."""
        return {"factor": self.factor, "of_columns": self.of_columns}


class SingularValueAddition(LowRankAddition):
    """Adds a product of the form of a singular value decomposition to a projection: `W x + scale P E Q x`.

    Zhang et al. 2023, "AdaLoRA: Adaptive Budget Allocation for Parameter-Efficient Fine-Tuning", section 3.1.
    P and Q start from a normal of stddev 0.02 as in peft, and the diagonal E at zero.

    Example:

    >>> import numpy as np
    >>> addition, states = SingularValueAddition(inputs=4, outputs=4, rank=2, scale=1.0), np.ones((1, 3, 4))
    >>> bool(np.all(addition(states, base=lambda read: read) == states))
    True
    """

    def __init__(
        self,
        inputs: int,
        outputs: int,
        rank: int,
        scale: float,
        dropout: float = 0.0,
        orthogonality: float = 0.0,
        seed: Seed = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(inputs, outputs, rank, scale, dropout, seed, **kwargs)

    def build(self, states_shape: Shape) -> None:
        """Creates Q, `down` [inputs, rank]; E, `values` [rank]; and P, `up` [rank, outputs].

        Not trained, but kept by `RankAllocator`, are a `..._sensitivity` and an `..._uncertainty` of each,
        and `kept` [rank], 0 where an entry of E has been taken away for good and 1 elsewhere.
        """
        start = normal(_STDDEV, self._generator, truncated=False)
        shapes = {"down": (self.inputs, self.rank), "values": (self.rank,), "up": (self.rank, self.outputs)}
        columns = {"down": True, "up": False}
        for name, shape in shapes.items():
            made = self.add_weight(
                name=name,
                shape=shape,
                initializer=start if name in columns else "zeros",
                regularizer=Orthogonality(self.orthogonality, columns[name]) if name in columns else None,
                aggregation="only_first_replica",
            )
            setattr(self, name, made)
            for score in ("sensitivity", "uncertainty"):
                setattr(self, f"{name}_{score}", self._state(f"{name}_{score}", shape, "zeros"))
        self.kept = self._state("kept", (self.rank,), "ones")
        self.dropout_layer.build(states_shape)

    def _state(self, name: str, shape: tuple[int, ...], start: str) -> keras.Variable:
        kept = {"trainable": False, "dtype": "float32", "aggregation": "only_first_replica"}
        return self.add_weight(name=name, shape=shape, initializer=start, **kept)

    def _scaled_up(self) -> Tensor:
        return ops.expand_dims(self.values * self.scale, 1) * self.up


def prepare_adalora(model: BackboneWithHeads, method: AdaLoRA, steps_per_epoch: int) -> Multipliers:
    """Adds a product to each target, freezes the backbone and allocates the ranks.

    Raises:
        TuningError: as `low_rank_targets` does.
    """
    places = low_rank_targets(
        model.backbone, method.targets, method.initial_rank, "method.initial_rank", method.dropout
    )
    scale, share = method.alpha / (method.initial_rank + _MORE), method.orthogonality / (2 * len(places))
    arguments = (method.initial_rank, scale, method.dropout, share)
    add_low_ranks(model, method, places, SingularValueAddition, *arguments)
    model.added.observers.append(RankAllocator(model.added.held, method))
    return {}


_PARTS = ("down", "values", "up")


class RankAllocator(GradientObserver):
    """Takes away the entries of all diagonals that matter least, until the method's number is left.

    Zhang et al. 2023, "AdaLoRA: Adaptive Budget Allocation for Parameter-Efficient Fine-Tuning", section 3.2
    and algorithm 1. A weight matters by its smoothed sensitivity, `|w g|` for its gradient g, times its
    uncertainty, how far that moves; an entry of a diagonal by its own score and the means of those of the
    vectors next to it. The number of entries falls with the cube of the steps that are left.

    Example: see `tests/tuning/adalora_rank_allocation_test.py`.
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
        """Returns the number of entries of all diagonals that may be left after an update, int32 []."""
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
    """Returns the current value of a variable, for `ops.where`.

    Keras hands the variable itself on from `ops.where` to JAX, which reads it outside of the step that is
    compiled, and so finds the value before the first step.
    """
    return ops.convert_to_tensor(variable)


def _scores(addition: Any) -> Tensor:
    """Returns the importance of each entry of an addition's diagonal, float32 [rank]."""
    down, own, up = (
        getattr(addition, f"{name}_sensitivity") * getattr(addition, f"{name}_uncertainty") for name in _PARTS
    )
    return own + ops.mean(down, axis=0) + ops.mean(up, axis=1)
