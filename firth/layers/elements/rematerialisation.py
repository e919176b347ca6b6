"""Blocks whose inner states are not kept for the backward pass, but computed again in it."""

import contextlib
import copy
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeVar

import keras
from keras import ops

from firth.layers.elements.dropout import Dropout
from firth.layers.elements.layer import Layer, inner_layers
from firth.layers.elements.noise import current_noise, drawn_keys, example_noise, repeated_noise
from firth.layers.elements.types import Tensor

Holder = TypeVar("Holder", bound="TensorHolder")


class TensorHolder:
    """A value that layers pass on, made of tensors and of values that are known when a graph is made.

    Attributes:
        tensors: Its tensors, a tuple.
    """

    tensors: tuple[Tensor, ...]

    def with_tensors(self: Holder, tensors: tuple[Tensor, ...]) -> Holder:
        """Returns the same with other tensors."""
        made = copy.copy(self)
        made.tensors = tensors
        return made


class BlocksLayer(Layer):
    """A stack of blocks whose forward pass may keep only the states between blocks.

    Each block is computed once more in the backward pass then, with the same dropout (Chen et al. 2016,
    "Training Deep Nets with Sublinear Memory Cost", section 4.1).
    """

    # Set by `rematerialise_blocks`.
    _rematerialises = False
    # Axis of the examples in the inputs of blocks.
    _batch_axis = 0
    dropout: Dropout

    def _run_block(
        self, block: Callable[..., Any], hidden: Tensor, *inputs: Any, training: bool | None, **more: Any
    ) -> Any:
        """Returns the output of a block for its inputs; float tensors among them may have gradients."""
        if not (training and self._rematerialises):
            return block(hidden, *inputs, training=training, **more)
        with self._noise(ops.shape(hidden)[self._batch_axis]):
            return rematerialised(partial(block, training=training), hidden, *inputs, **more)

    @contextlib.contextmanager
    def _noise(self, rows: Tensor | int) -> Iterator[None]:
        """Makes noise of examples if the call has no keys: a generator would draw anew the second time."""
        if current_noise() is not None:
            yield
            return
        with example_noise(drawn_keys(rows, self.dropout.seed_generator)):
            yield


def rematerialise_blocks(model: keras.Model) -> None:
    """Lets a model compute its blocks once more in the backward pass of a training, to spare memory."""
    for layer in inner_layers(model, BlocksLayer):
        layer._rematerialises = True


def rematerialised(function: Callable[..., Any], *inputs: Any, **named: Any) -> Any:
    """Calls a function of which only inputs and outputs are kept for its gradient.

    Its draws from `example_noise` are the same when it is computed again.

    Example:

    >>> import numpy as np
    >>> float(rematerialised(lambda x, y: x * y, np.array(2.0), y=np.array(3.0)))
    6.0
    """
    nest = (inputs, named)
    leaves = keras.tree.flatten(nest)
    # A holder of tensors is replaced by its tensors.
    flat = keras.tree.flatten([_tensors(leaf) for leaf in leaves])
    places = [place for place, value in enumerate(flat) if _is_float(value)]
    noise = current_noise()
    calls = 0 if noise is None else noise.calls

    def run(halves: Tensor, *floats: Tensor) -> Any:
        values = list(flat)
        for place, value in zip(places, floats, strict=True):
            values[place] = value
        following = iter(values)
        positional, by_name = keras.tree.pack_sequence_as(nest, [_with(leaf, following) for leaf in leaves])
        with contextlib.nullcontext() if noise is None else repeated_noise(noise, halves, calls):
            return function(*positional, **by_name)

    floats = [ops.convert_to_tensor(flat[place]) for place in places]
    # TensorFlow computes first, and then holds, values that do not depend on an input: draws depend on the
    # keys, and these on the hidden states.
    halves = ops.zeros((1, 4)) if noise is None else noise.halves() + zero_after(floats[0])
    return keras.remat(run)(halves, *floats)


def zero_after(value: Tensor) -> Tensor:
    """Returns 0, which is known only when a tensor is: float32 [1]."""
    return ops.minimum(ops.abs(ops.cast(ops.reshape(value, (-1,))[:1], "float32")), 0.0)


def _tensors(leaf: Any) -> Any:
    return list(leaf.tensors) if isinstance(leaf, TensorHolder) else leaf


def _with(leaf: Any, values: Iterator[Any]) -> Any:
    """Returns a leaf whose tensors are the next values."""
    if not isinstance(leaf, TensorHolder):
        return next(values)
    return leaf.with_tensors(tuple(next(values) for _ in leaf.tensors))


def _is_float(value: Any) -> bool:
    return hasattr(value, "shape") and "float" in keras.backend.standardize_dtype(value.dtype)
