"""Words from their characters."""

import itertools
from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

from firth.layers.characters.max_over_time import max_over_time
from firth.layers.elements.checks import check_positive
from firth.layers.elements.layer import Layer
from firth.layers.elements.seeds import drawn, seed_generator
from firth.layers.elements.types import Seed, Shape, Tensor

_ACTIVATIONS = {"relu": ops.relu, "tanh": ops.tanh}


@keras.saving.register_keras_serializable(package="firth")
class CharCNN(Layer):
    """A vector for each word, from convolutions of several widths over its characters.

    `f(max over time (conv(E c) + b))` for each filter (Kim et al. 2015, "Character-Aware Neural Language
    Models", section 2.2; Peters et al. 2018, "Deep contextualized word representations", section 3.4). The
    padding after a word takes part, as it does in the reference code.

    Args:
        filters: Pairs of a convolution's width and its number of filters.
        character_width: Width of a character's embedding.
        alphabet: Number of characters, which are all below it; 262 is that of
            `firth.tokenizers.graph.word_characters`.
        activation: `relu` or `tanh`.
        seed: An int, None, or a `keras.random.SeedGenerator` to share; see `firth.layers.elements.seeds`.
        **kwargs: Keywords of `keras.layers.Layer`: `name`, `dtype` (a dtype or a policy) and `trainable`.

    Raises:
        ValueError: if a number is below 1, the activation is unknown, or words have fewer characters than the
            widest convolution.

    Example:

    >>> import numpy as np
    >>> layer = CharCNN(filters=[(1, 4), (3, 8)], character_width=5)
    >>> tuple(layer(np.ones((2, 6, 10), "int32")).shape)
    (2, 6, 12)
    """

    def __init__(
        self,
        filters: Sequence[Sequence[int]],
        character_width: int = 16,
        alphabet: int = 262,
        activation: str = "relu",
        seed: Seed = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        check_positive("CharCNN", character_width=character_width, alphabet=alphabet)
        for width, count in filters:
            check_positive("CharCNN", filters=width)
            check_positive("CharCNN", filters=count)
        if activation not in _ACTIVATIONS:
            raise ValueError(
                f"CharCNN: `activation` must be one of {sorted(_ACTIVATIONS)}. "
                f"Received: activation={activation!r}"
            )
        self.filters = [list(pair) for pair in filters]
        self._seed_generator = seed_generator(seed)

    @property
    def _widest(self) -> int:
        return max(width for width, _ in self.filters)

    @property
    def width(self) -> int:
        """Of a word's vector: all filters."""
        return sum(count for _, count in self.filters)

    def build(self, characters_shape: Shape | None = None) -> None:
        """Creates `table` [alphabet, character_width], `bias`, and a kernel for each pair of `filters`.

        They start from what the reference code starts them from: uniform within 1, zero, and uniform within
        0.05 or, under tanh, normal with a stddev of one over the root of a window's values.

        Args:
            characters_shape: Shape of `characters`, (batch, length, max_characters); not read.
        """
        self.table = self._add("table", (self.alphabet, self.character_width), self._uniform(1.0))
        self.kernels = [
            self._add(f"kernel_{place}", (width, self.character_width, count), self._start(width))
            for place, (width, count) in enumerate(self.filters)
        ]
        self.bias = self._add("bias", (self.width,), "zeros")

    def _add(self, name: str, shape: Shape, start: Any) -> Tensor:
        return self.add_weight(name=name, shape=shape, initializer=start, autocast=False)

    def _uniform(self, bound: float) -> keras.initializers.Initializer:
        return drawn(keras.initializers.RandomUniform(-bound, bound, seed=self._seed_generator))

    def _start(self, width: int) -> keras.initializers.Initializer:
        if self.activation == "relu":
            return self._uniform(0.05)
        stddev = (width * self.character_width) ** -0.5
        return drawn(keras.initializers.RandomNormal(stddev=stddev, seed=self._seed_generator))

    def call(self, characters: Tensor) -> Tensor:
        """Returns a float tensor [batch, length, sum of all filters].

        Args:
            characters: Int tensor [batch, length, max_characters], at least as many as the widest
                convolution.

        Raises:
            ValueError: if words have fewer characters than the widest convolution.
        """
        characters = ops.convert_to_tensor(characters)
        batch, length, max_characters = ops.shape(characters)
        if max_characters < self._widest:
            raise ValueError(
                "CharCNN: words must have at least as many characters as the widest of `filters`. "
                f"Received: filters={self.filters}, input shape {tuple(characters.shape)}"
            )
        largest = max_over_time(
            ops.cast(self.table, self.compute_dtype),
            ops.cast(self._joined_kernel(), self.compute_dtype),
            ops.reshape(characters, (-1, max_characters)),
            list(itertools.chain.from_iterable([width] * count for width, count in self.filters)),
        )
        vectors = _ACTIVATIONS[self.activation](largest + self.bias)
        return ops.cast(ops.reshape(vectors, (batch, length, self.width)), self.compute_dtype)

    def _joined_kernel(self) -> Tensor:
        """Returns one kernel for all filters, [widest, character_width, filters]."""
        padded = [
            ops.pad(kernel, [(0, self._widest - width), (0, 0), (0, 0)])
            for kernel, (width, _) in zip(self.kernels, self.filters)
        ]
        return ops.concatenate(padded, axis=-1)

    def compute_output_shape(self, characters_shape: Shape) -> Shape:
        """The shape of the words, and the sum of all filters.

        Args:
            characters_shape: Shape of `characters`, (batch, length, max_characters); None on an axis of
                unknown length.
        """
        return (*characters_shape[:-1], self.width)
