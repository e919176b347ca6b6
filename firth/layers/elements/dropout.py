"""Dropout with one random byte an element."""

import math
from typing import Any

import keras
from keras import ops

from firth.layers.elements.layer import Layer
from firth.layers.elements.noise import batch_keys, bits_as, current_noise, random_words, shift_right
from firth.layers.elements.seeds import seed_generator
from firth.layers.elements.types import Seed, Shape, Tensor

_ROW_WORDS = 16


@keras.saving.register_keras_serializable(package="firth")
class Dropout(Layer):
    """Sets elements to zero at random in training, and scales up the others to keep the mean.

    `y = x * keep / (1 - rate)` with P(keep = 0) = `rate` (Srivastava et al. 2014, "Dropout: A Simple Way to
    Prevent Neural Networks from Overfitting", section 4).

    On a CPU the cost of dropout is drawing random numbers, so an element gets 8 random bits instead of 32. To
    keep the rate exact all the same, the byte's threshold is itself rounded up or down at random, once a
    call.

    Args:
        rate: The share of elements that is dropped, from 0 to 0.99.
        batch_axis: The axis of the examples, whose keys decide within `example_noise`; None for what a batch
            shares.
        seed: An int, None, or a `keras.random.SeedGenerator` to share; see `firth.layers.elements.seeds`.
        **kwargs: Keywords of `keras.layers.Layer`: `name`, `dtype` (a dtype or a policy) and `trainable`.

    Raises:
        ValueError: for a rate outside 0 to 0.99.

    Example:

    >>> import numpy as np
    >>> layer = Dropout(0.5, seed=1)
    >>> sorted(set(np.array(layer(np.ones((8, 8)), training=True)).flatten().tolist()))
    [0.0, 2.0]
    """

    def __init__(self, rate: float, batch_axis: int | None = 0, seed: Seed = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if not 0.0 <= rate <= 0.99:
            raise ValueError(f"Dropout: `rate` must be from 0 to 0.99. Received: rate={rate}")
        self.seed_generator = seed_generator(seed)
        self.supports_masking = True

    def build(self, hidden_shape: Shape | None = None) -> None:
        """Creates nothing: there are no weights.

        Args:
            hidden_shape: Shape of the inputs; not read.
        """
        self.built = True

    def call(
        self, inputs: Tensor, parts: tuple[Tensor, Tensor] | None = None, training: bool | None = None
    ) -> Tensor:
        """Returns a tensor of the inputs' shape and dtype.

        Args:
            inputs: A float tensor of any shape.
            parts: Pair of int tensors, where the first axis holds parts of examples; see
                `ExampleNoise.draw_keys`. None where it holds examples.
            training: Whether dropout acts; otherwise the inputs are returned as they are. None, as in every
                layer here, takes the value of the layer that makes this call; where no layer has one, dropout
                does not act.
        """
        factors = self.factors(ops.shape(inputs), parts, training, inputs.dtype)
        return inputs if factors is None else inputs * factors

    def acts(self, training: bool | None) -> bool:
        """Returns true if dropout acts.

        Args:
            training: As in the call; false for None.
        """
        return bool(training) and self.rate > 0.0

    def factors(
        self,
        shape: Shape,
        parts: tuple[Tensor, Tensor] | None = None,
        training: bool | None = None,
        dtype: Any = None,
    ) -> Tensor | None:
        """Returns the factors of inputs, zeros and 1 / (1 - rate); None where dropout does not act.

        Args:
            shape: Shape of the inputs.
            parts: Pair of int tensors as in the call.
            training: Whether dropout acts; for None it does not.
            dtype: Dtype of the result; the layer's compute dtype where it is None.
        """
        if not self.acts(training):
            return None
        noise = current_noise()
        if noise is None:
            keep = ops.greater_equal(random_bytes(shape, self.seed_generator), self._threshold())
        elif self.batch_axis is None:
            keep = _keep_in_batch(shape, batch_keys(self.seed_generator), self.rate)
        else:
            axis = self.batch_axis % len(shape) if parts is None else 0
            # There are as many parts as keys; their size is known even where their number is not.
            count = None if parts is None else math.prod(shape[1:])
            keep = keep_by_example(shape, axis, noise.draw_keys(parts), self.rate, count)
        return ops.cast(keep, dtype or self.compute_dtype) * (1.0 / (1.0 - self.rate))

    def _threshold(self) -> Tensor:
        rounding = keras.random.uniform((), dtype="float32", seed=self.seed_generator)
        return ops.cast(ops.floor(256.0 * self.rate + rounding), "uint8")


def keep_by_example(
    shape: Shape, axis: int, keys: tuple[Tensor, ...], rate: float, count: Tensor | int | None = None
) -> Tensor:
    """Returns the mask of kept elements, bool of `shape`; the keys decide for the examples on `axis`.

    Args:
        keys: Pair of tensors [batch, 1] of 32-bit words.
    """
    first = (shape[axis], *shape[:axis], *shape[axis + 1 :])
    count = math.prod(shape) // ops.shape(keys[0])[0] if count is None else count
    random = bits_as(random_words(keys, -(-count // 4)), "uint8")
    keep = ops.greater_equal(random[:, :count], threshold_by_example(keys[1], rate))
    return ops.moveaxis(ops.reshape(keep, first), 0, axis)


def _keep_in_batch(shape: Shape, keys: tuple[Tensor, ...], rate: float) -> Tensor:
    """Returns bool of `shape`, which the keys [1, 1] of the whole batch decide."""
    return keep_by_example((1, *shape), 0, keys, rate)[0]


def threshold_by_example(key: Tensor, rate: float) -> Tensor:
    """Returns the least byte that is kept, uint8 [batch, 1].

    Over the calls, rounding up is spread as evenly as its share allows.

    Args:
        key: 32-bit words [batch, 1].
    """
    whole, share = divmod(256.0 * rate, 1.0)
    up = ops.less(ops.cast(shift_right(key, 16), "int32"), round(share * 2**16))
    return ops.cast(up, "uint8") + ops.cast(int(whole), "uint8")


def random_bytes(shape: Shape, seed: Seed) -> Tensor:
    """Returns uniform uint8 of `shape`, four of which are cut from each random int32.

    Example:

    >>> tuple(random_bytes((3, 5), seed=1).shape)
    (3, 5)
    """
    count = math.prod(shape)
    row_bytes = 4 * _ROW_WORDS
    rows = (count + row_bytes - 1) // row_bytes
    words = keras.random.randint((rows, _ROW_WORDS), -(2**31), 2**31 - 1, dtype="int32", seed=seed)
    flat = ops.reshape(ops.view(words, dtype="uint8"), (-1,))
    return ops.reshape(flat[:count], shape)
