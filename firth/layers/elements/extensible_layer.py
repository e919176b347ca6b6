"""Layers at whose places something may be added, after they are built."""

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

import keras
import numpy as np
import numpy.typing as npt
from keras import ops

from firth.layers.elements.layer import Layer, inner_layers
from firth.layers.elements.types import Shape, Tensor

# The part of a layer at a place: states [batch, length, inputs] to states [batch, length, outputs].
Base: TypeAlias = Callable[[Tensor], Tensor]


class Addition(Layer):
    """A layer that takes the place of another part of a model and calls it, once.

    Subclasses have `call(states, base)`, where `states` are the inputs of the part, a float tensor [batch,
    length, inputs], and `base` is the part. At a sublayer of a block it is `call(states, base, after)`:
    `after` is the function from the output of the sublayer to its sum with the residual, and the norm of it
    where one follows.
    """

    def begin(self, model: Any, tokenizer: Any, method: Any) -> None:
        """Assigns the values of the base that the addition starts from; most start as they are drawn."""

    def take(self, other: Any) -> None:
        """Assigns the result of an addition that was trained, of which this one is kept."""
        raise NotImplementedError(f"{type(self).__name__} is not kept of {type(other).__name__}")

    def merged(self, kernel: Tensor, bias: Tensor | None) -> tuple[Tensor, Tensor | None]:
        """Returns the kernel and the bias of one projection with the result of both.

        Args:
            kernel: Float tensor [inputs, outputs].
        """
        raise NotImplementedError(f"{type(self).__name__} is not a part of a projection")


@dataclasses.dataclass(frozen=True)
class Columns:
    """The weights of a projection, which may be a part of those of several.

    Attributes:
        kernel: Kernel, [inputs, columns], or [columns, inputs] if it is `turned`.
        bias: Bias, [columns], or None.
        begin: Its first column.
        count: Number of its columns.
        turned: Whether the kernel's first axis is that of the columns.
        direction: Place of its weights on a first axis of directions; None without such an axis.
    """

    kernel: Any
    bias: Any
    begin: int
    count: int
    turned: bool = False
    direction: int | None = None

    def part(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Returns a view of its own columns in an array of the kernel's shape, [inputs, count]."""
        return self._matrix(array)[:, self._own]

    def read(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any] | None]:
        """Returns the kernel [inputs, count] and the bias [count] or None."""
        kernel = self.part(np.array(ops.convert_to_numpy(self.kernel.value)))
        bias = None if self.bias is None else self._of_direction(ops.convert_to_numpy(self.bias.value))
        return kernel, None if bias is None else bias[self._own]

    def write(self, kernel: Any, bias: Any) -> None:
        """Assigns a kernel and a bias as `read` returns them.

        Args:
            kernel: Float array [inputs, count].
        """
        whole = np.array(ops.convert_to_numpy(self.kernel.value))
        self.part(whole)[:] = ops.convert_to_numpy(kernel)
        self.kernel.assign(whole)
        if self.bias is not None:
            whole = np.array(ops.convert_to_numpy(self.bias.value))
            self._of_direction(whole)[self._own] = ops.convert_to_numpy(bias)
            self.bias.assign(whole)

    def _of_direction(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return array if self.direction is None else array[self.direction]

    def _matrix(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Returns a view of a kernel with the columns last."""
        matrix = self._of_direction(array)
        return matrix.T if self.turned else matrix

    @property
    def _own(self) -> slice:
        return slice(self.begin, self.begin + self.count)


@dataclasses.dataclass(frozen=True)
class Place:
    """A part of a layer that something may be added to.

    Attributes:
        layer: Layer that it is a part of.
        name: Its name in this layer, such as `query`.
        inputs: Width of its inputs.
        outputs: Width of its outputs.
        columns: Weights of the projection that it is; None for other parts.
        reads_states: Whether an addition is called with states; otherwise it is merged in each call.
        norm: Norm before or after the sublayer that it is, if there is one; None for other parts.
    """

    layer: "ExtensibleLayer"
    name: str
    inputs: int
    outputs: int
    columns: Columns | None = None
    reads_states: bool = True
    norm: keras.layers.Layer | None = None

    @property
    def path(self) -> str:
        """Path of the layer, without the model's own name, and the place's name."""
        return f"{self.layer.path.split('/', 1)[-1]}/{self.name}"


class ExtensibleLayer(Layer):
    """A layer with places that something may be added to; without additions it does not change."""

    # Past Keras, which lets a layer that is built track nothing more; a model holds the additions.
    _additions: Mapping[str, Addition] = {}

    def places(self) -> list[Place]:
        """Returns the places of a layer that is built."""
        raise NotImplementedError

    def extend(self, name: str, addition: Addition | None) -> None:
        """Adds something at a place, or takes it away.

        Args:
            name: Name of the place.
            addition: Addition, built; None to remove it.

        Raises:
            ValueError: if there is an addition already.
        """
        if addition is not None and name in self._additions:
            raise ValueError(f"{self.path}/{name} has an addition already: {self._additions[name].name}")
        others = {place: each for place, each in self._additions.items() if place != name}
        self.__dict__["_additions"] = others if addition is None else {**others, name: addition}

    def addition(self, name: str) -> Addition | None:
        """Returns the addition at a place, or None.

        Args:
            name: Name of the place.
        """
        return self._additions.get(name)

    def _extended(self, name: str, states: Tensor, base: Base, **more: Base) -> Tensor:
        """Applies the part at a place, with its addition, to states [batch, length, inputs]."""
        addition = self._additions.get(name)
        return base(states) if addition is None else addition(states, base=base, **more)

    def _extended_tokens(self, name: str, tokens: Tensor, base: Base, rows: Shape) -> Tensor:
        """Does the same for tokens [batch * length, inputs] of rows (batch, length)."""
        if name not in self._additions:
            return base(tokens)
        states = ops.reshape(tokens, (*rows, tokens.shape[-1]))
        found = self._extended(name, states, lambda read: by_tokens(base, read))
        return ops.reshape(found, (-1, found.shape[-1]))


def by_tokens(base: Base, states: Tensor) -> Tensor:
    """Applies a function of tokens [tokens, inputs] to states [batch, length, inputs].

    Args:
        states: Float tensor [batch, length, inputs].
    """
    found = base(ops.reshape(states, (-1, states.shape[-1])))
    return ops.reshape(found, (*ops.shape(states)[:-1], found.shape[-1]))


def extensible_layers(layer: keras.layers.Layer) -> Iterator[ExtensibleLayer]:
    """Returns the extensible layers of a layer or a model, each once, in the order in which they were made.

    Example: see `tests/layers/elements/extensible_layer_test.py`.
    """
    return inner_layers(layer, ExtensibleLayer)


class Additions(keras.layers.Layer):
    """The additions of a model, which are tracked here, as layers that are built track nothing more.

    They are `held`; `observers` read the gradients of their training.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.held: list[Addition] = []
        self.observers: list[GradientObserver] = []
        self.built = True


class GradientObserver:
    """A part of a method that acts after each update of a run, and reads the gradients.

    Its state is in weights that are not trained, of layers that the model holds, so that checkpoints have it.
    They, and trained weights that it assigns to, are made with `aggregation="only_first_replica"`: each
    replica computes the same.
    """

    def plan(self, steps: int) -> None:
        """Prepares for a run.

        Raises:
            ValueError: if the run is too short.
        """
        raise NotImplementedError

    def observe(self, gradients: Mapping[str, Tensor], updates: Any) -> None:
        """Acts after an update."""
        raise NotImplementedError
