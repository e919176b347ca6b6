"""The networks that make a prompt in training."""

from collections.abc import Callable
from typing import Any

import keras

from firth.layers.elements.layer import Layer
from firth.layers.elements.seeds import drawn, seed_generator
from firth.layers.elements.types import Seed, Shape, Tensor


class PromptMLP(Layer):
    """Three dense layers with ReLU between them, peft's network for prompts.

    Weights start as in torch: uniform within one over the root of what a layer reads.

    Example:

    >>> import numpy as np
    >>> tuple(PromptMLP(width=4, hidden=5)(np.ones((1, 3, 4))).shape)
    (1, 3, 4)
    """

    def __init__(self, width: int, hidden: int, seed: Seed = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._generator = seed_generator(seed)
        reads = ((width, hidden, "relu"), (hidden, hidden, "relu"), (hidden, width, None))
        self.dense = _dense_layers(reads, self._generator, self.dtype_policy)

    def build(self, vectors_shape: Shape) -> None:
        """Creates the weights of the dense layers."""
        _build(self.dense, vectors_shape)

    def call(self, vectors: Tensor) -> Tensor:
        """Returns a float tensor [1, length, width]."""
        for layer in self.dense:
            vectors = layer(vectors)
        return vectors


class PromptLSTM(Layer):
    """Two bidirectional LSTMs and two dense layers with a ReLU between them.

    Liu et al. 2021, "GPT Understands, Too", section 2.2, as in the authors' code. Weights start as in torch:
    uniform within one over the root of the cells, or of what a dense layer reads.

    Example:

    >>> import numpy as np
    >>> tuple(PromptLSTM(width=4, hidden=5)(np.ones((1, 3, 4))).shape)
    (1, 3, 4)
    """

    def __init__(self, width: int, hidden: int, seed: Seed = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._generator = seed_generator(seed)
        start = _uniform(hidden, self._generator)
        self.recurrent = [
            keras.layers.Bidirectional(
                keras.layers.LSTM(
                    hidden,
                    return_sequences=True,
                    kernel_initializer=start,
                    recurrent_initializer=start,
                    bias_initializer=start,
                    unit_forget_bias=False,
                    seed=0,
                    dtype=self.dtype_policy,
                    # Without one, Keras counts those of the process, and checkpoints know weights by path.
                    name="lstm",
                ),
                dtype=self.dtype_policy,
                name=f"layer_{number}",
            )
            for number in range(2)
        ]
        both = 2 * hidden
        reads = ((both, both, "relu"), (both, width, None))
        self.dense = _dense_layers(reads, self._generator, self.dtype_policy)

    def build(self, vectors_shape: Shape) -> None:
        """Creates the weights of the LSTMs and of the dense layers."""
        states_shape = (*vectors_shape[:-1], 2 * self.hidden)
        for number, layer in enumerate(self.recurrent):
            layer.build(states_shape if number else vectors_shape)
        _build(self.dense, states_shape)

    def call(self, vectors: Tensor) -> Tensor:
        """Returns a float tensor [1, length, width]."""
        for layer in (*self.recurrent, *self.dense):
            vectors = layer(vectors)
        return vectors


def _uniform(inputs: int, generator: keras.random.SeedGenerator) -> Any:
    bound = inputs**-0.5
    return drawn(keras.initializers.RandomUniform(-bound, bound, seed=generator))


def _dense_layers(
    reads: tuple[tuple[int, int, str | None], ...], generator: keras.random.SeedGenerator, dtype: Any
) -> list[keras.layers.Layer]:
    return [
        keras.layers.Dense(
            units,
            activation=activation,
            kernel_initializer=_uniform(inputs, generator),
            bias_initializer=_uniform(inputs, generator),
            dtype=dtype,
            name=f"dense_{number}",
        )
        for number, (inputs, units, activation) in enumerate(reads)
    ]


def _build(layers: list[keras.layers.Layer], shape: Shape) -> None:
    for layer in layers:
        layer.build(shape)
        shape = (*shape[:-1], layer.units)


# By the method's `encoder`.
PROMPT_ENCODERS: dict[str, Callable[..., Layer]] = {"mlp": PromptMLP, "lstm": PromptLSTM}
