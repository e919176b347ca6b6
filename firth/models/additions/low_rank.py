"""Products of two small matrices that are added to projections, and the projections that patterns name."""

import fnmatch
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from keras import ops

from firth.layers.elements.dropout import Dropout
from firth.layers.elements.extensible_layer import Addition, Base, Place
from firth.layers.elements.seeds import seed_generator, uniform
from firth.layers.elements.types import Seed, Shape, Tensor
from firth.models.additions.addition_places import TuningError, add_below, path_below, places_below
from firth.recipes.base.errors import first_of, suggest
from firth.recipes.tuning.adding import LoRA


class ProjectionAddition(Addition):
    """Base of additions of a matrix to a projection's kernel, which `rank` and `scale` describe.

    Subclasses have `_product`, of the tokens and the matrix, and `_difference`, the matrix.
    """

    def __init__(
        self, inputs: int, outputs: int, rank: int, scale: float, seed: Seed = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self._generator = seed_generator(seed)

    def call(self, states: Tensor, base: Base) -> Tensor:
        """Returns a float tensor [batch, length, outputs].

        Args:
            states: Float tensor [batch, length, inputs].
        """
        added = self._product(ops.reshape(self._read(states), (-1, self.inputs)))
        return base(states) + ops.reshape(added, (*ops.shape(states)[:-1], self.outputs))

    def _read(self, states: Tensor) -> Tensor:
        return states

    def _product(self, tokens: Tensor) -> Tensor:
        return ops.matmul(tokens, ops.cast(self._difference(), tokens.dtype))

    def _difference(self) -> Tensor:
        raise NotImplementedError

    def merged(self, kernel: Tensor, bias: Tensor | None) -> tuple[Tensor, Tensor | None]:
        """Returns the kernel with the product added to it, and the bias.

        Args:
            kernel: Float tensor [inputs, outputs].
        """
        return kernel + self._difference(), bias


class LowRankAddition(ProjectionAddition):
    """Adds a product of two small matrices to a projection: `W x + scale B A x`.

    Hu et al. 2021, "LoRA: Low-Rank Adaptation of Large Language Models", section 4.1. A starts uniform within
    one over the root of the inputs, as in the authors' code, and B at zero.

    Example:

    >>> import numpy as np
    >>> addition, states = LowRankAddition(inputs=4, outputs=4, rank=2, scale=1.0), np.ones((1, 3, 4))
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
        seed: Seed = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(inputs, outputs, rank, scale, seed, **kwargs)
        self.dropout_layer = Dropout(dropout, seed=self._generator, dtype=self.dtype_policy, name="dropout")

    def build(self, states_shape: Shape) -> None:
        """Creates `down` [inputs, rank], which is A, and `up` [rank, outputs], which is B."""
        start = uniform(self.inputs**-0.5, self._generator)
        self.down = self.add_weight(name="down", shape=(self.inputs, self.rank), initializer=start)
        self.up = self.add_weight(name="up", shape=(self.rank, self.outputs), initializer="zeros")
        self.dropout_layer.build(states_shape)

    def _read(self, states: Tensor) -> Tensor:
        return self.dropout_layer(states)

    def _product(self, tokens: Tensor) -> Tensor:
        small = ops.matmul(tokens, ops.cast(self.down, tokens.dtype))
        return ops.matmul(small, ops.cast(self._scaled_up(), tokens.dtype))

    def _difference(self) -> Tensor:
        return ops.matmul(self.down, self._scaled_up())

    def _scaled_up(self) -> Tensor:
        return ops.multiply(self.up, self.scale)


def enable_lora(
    backbone: Any, rank: int, targets: Sequence[str] | None, alpha: float | None
) -> Mapping[str, Any]:
    """Adds LoRA to a backbone that is built, and freezes its other weights; see `Backbone.enable_lora`.

    Returns:
        The arguments of `Backbone.enable_lora` that do the same.
    """
    if backbone.added.held:
        raise TuningError(f"{backbone.name}: LoRA is enabled already, with {backbone.lora}")
    values: dict[str, Any] = {"rank": rank}
    if targets is not None:
        values["targets"] = [targets] if isinstance(targets, str) else list(targets)
    if alpha is not None:
        values["alpha"] = alpha
    method = LoRA.of(values)
    alpha = rank if alpha is None else method.alpha
    places = low_rank_targets(backbone, method.targets, rank, "rank", targets_key="target_layer_names")
    start = {"seed": backbone.seed_generator, "dtype": backbone.dtype_policy, "name": method.kind}
    base = list(backbone.weights)

    def make(place: Place) -> LowRankAddition:
        return LowRankAddition(place.inputs, place.outputs, rank, alpha / rank, **start)

    add_below(backbone, backbone.added, backbone.path.rpartition("/")[0] or backbone.path, places, make)
    for weight in base:
        weight.trainable = False
    return {"rank": rank, "target_layer_names": list(method.targets), "lora_alpha": alpha}


def low_rank_targets(
    backbone: Any,
    patterns: Iterable[str],
    rank: int,
    key: str = "method.rank",
    dropout: float = 0.0,
    targets_key: str = "method.targets",
) -> list[Place]:
    """Returns the projections that patterns name, if matrices of a rank can be added to them."""
    places = projections_of(backbone, patterns, targets_key)
    narrowest = min(places, key=_smaller_side)
    if rank > (most := _smaller_side(narrowest)):
        raise TuningError(
            f"{key}: {rank}, but {narrowest.path} has {narrowest.inputs} inputs and {narrowest.outputs} "
            f"outputs; {most} is the greatest that the targets take"
        )
    if dropout and (merged := [place.path for place in places if not place.reads_states]):
        raise TuningError(f"method.dropout: {merged[0]} is a recurrent projection; dropout must be 0")
    return places


def projections_of(backbone: Any, patterns: Iterable[str], key: str) -> list[Place]:
    """Returns the projections of a backbone that patterns name."""
    places = [place for place in places_below(backbone) if place.columns]
    patterns = list(patterns)
    for pattern in patterns:
        if not any(_names(pattern, place) for place in places):
            raise TuningError(
                f"{key}: {pattern} names none of the {len(places)} projections of this model; "
                f"{_nearest(pattern, places)}"
            )
    return [place for place in places if any(_names(pattern, place) for pattern in patterns)]


def _smaller_side(place: Place) -> int:
    return min(place.inputs, place.outputs)


def _names(pattern: str, place: Place) -> bool:
    return fnmatch.fnmatchcase(path_below(place), pattern) or fnmatch.fnmatchcase(
        path_below(place), f"*/{pattern}"
    )


def _nearest(pattern: str, places: list[Place]) -> str:
    """Returns the names that a pattern may mean: ends of paths of as many parts as it has, or whole paths."""
    parts = pattern.count("/") + 1
    ends = dict.fromkeys("/".join(path_below(place).split("/")[-parts:]) for place in places)
    said = suggest(pattern.replace("*", ""), ends)
    return said if said.startswith("did") else f"one of: {first_of(list(ends), most=12)}"
