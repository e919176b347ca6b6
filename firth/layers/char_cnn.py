"""Vectors of words from their characters, and highway layers, as in ELMo."""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import keras
from keras import ops

from firth.layers.elements.custom_gradient import custom_gradient
from firth.layers.elements.layer import Layer
from firth.layers.elements.seeds import normal, seed_generator, uniform
from firth.layers.elements.types import Seed, Shape, Tensor, check_positive, check_width

_ACTIVATIONS = {"relu": ops.relu, "tanh": ops.tanh}


_BELOW_ALL = -1e30


# Gates start nearly closed, and inputs pass.
_GATE_BIAS = -2.0


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
        """Width of a word's vector: the number of all filters."""
        return sum(count for _, count in self.filters)

    def build(self, characters_shape: Shape | None = None) -> None:
        """Creates `table` [alphabet, character_width], `bias`, and a kernel for each pair of `filters`.

        They start as in the reference code: uniform within 1, zero, and uniform within 0.05 or, under tanh,
        normal with a stddev of one over the root of a window's values.

        Args:
            characters_shape: Shape of `characters`, (batch, length, max_characters); not read.
        """
        self.table = self._add(
            "table", (self.alphabet, self.character_width), uniform(1.0, self._seed_generator)
        )
        self.kernels = [
            self._add(f"kernel_{place}", (width, self.character_width, count), self._start(width))
            for place, (width, count) in enumerate(self.filters)
        ]
        self.bias = self._add("bias", (self.width,), "zeros")

    def _add(self, name: str, shape: Shape, start: Any) -> Tensor:
        return self.add_weight(name=name, shape=shape, initializer=start, autocast=False)

    def _start(self, width: int) -> keras.initializers.Initializer:
        if self.activation == "relu":
            return uniform(0.05, self._seed_generator)
        stddev = (width * self.character_width) ** -0.5
        return normal(stddev, self._seed_generator, truncated=False)

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


@keras.saving.register_keras_serializable(package="firth")
class Highway(Layer):
    """A dense layer and its input, mixed by a gate.

    `t relu(x W + b) + (1 - t) x` with `t = sigmoid(x V + c)` (Srivastava et al. 2015, "Highway Networks",
    section 2). ELMo's reference code calls the gate's weights those of the carry gate.

    Args:
        width: Width of inputs and outputs.
        seed: An int, None, or a `keras.random.SeedGenerator` to share; see `firth.layers.elements.seeds`.
        **kwargs: Keywords of `keras.layers.Layer`: `name`, `dtype` (a dtype or a policy) and `trainable`.

    Raises:
        ValueError: if the width is below 1, or the last axis of the input is not `width`.

    Example:

    >>> import numpy as np
    >>> tuple(Highway(width=4)(np.ones((2, 3, 4))).shape)
    (2, 3, 4)
    """

    def __init__(self, width: int, seed: Seed = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        check_positive("Highway", width=width)
        self._seed_generator = seed_generator(seed)

    def build(self, hidden_shape: Shape) -> None:
        """Creates `kernel` [width, 2 width] and `bias`, those of the gate first.

        As in the reference code kernels start from a normal with a stddev of one over the width's root, the
        bias of the gate at -2.

        Args:
            hidden_shape: Shape of `hidden`, (batch, length, width); None on an axis of unknown length.
        """
        check_width("Highway", self.width, hidden_shape)
        start = normal(self.width**-0.5, self._seed_generator, truncated=False)
        self.kernel = self.add_weight(name="kernel", shape=(self.width, 2 * self.width), initializer=start)
        self.bias = self.add_weight(name="bias", shape=(2 * self.width,), initializer=self._start_bias)

    def _start_bias(self, shape: Shape, dtype: Any = None) -> Tensor:
        zeros = ops.zeros((self.width,), dtype)
        return ops.concatenate([zeros + _GATE_BIAS, zeros])

    def call(self, hidden: Tensor) -> Tensor:
        """Returns a float tensor [batch, length, width].

        Args:
            hidden: Float tensor [batch, length, width].
        """
        tokens = ops.reshape(hidden, (-1, self.width))
        gate, transformed = ops.split(ops.add(ops.matmul(tokens, self.kernel), self.bias), 2, axis=-1)
        mixed = tokens + ops.sigmoid(gate) * (ops.relu(transformed) - tokens)
        return ops.reshape(mixed, ops.shape(hidden))


def max_over_time(table: Tensor, kernel: Tensor, characters: Tensor, widths: Sequence[int]) -> Tensor:
    """Returns the largest value that each filter takes at any place of each word.

    `y[word, filter] = max over p of sum over k of table[characters[word, p + k]] . kernel[k, :, filter]`,
    with `p` such that the filter's window ends within the word (Kim et al. 2015, "Character-Aware Neural
    Language Models", section 2.2).

    One matmul for each place and a running maximum take no longer than a convolution on a CPU, but hold a
    word's values once instead of for every place, forward and backward. And the loop ends where the last
    word's padding begins, since after that all windows are the same: in most text half way.

    Args:
        table: Float tensor [alphabet, width], a vector for each character.
        kernel: Float tensor [widest, width, filters], zero where a narrower filter has no weights.
        characters: Int tensor [words, max_characters].

    Returns:
        float32 [words, filters].

    Example:

    >>> import numpy as np
    >>> table, kernel = np.array([[0.0], [1.0], [5.0]]), np.array([[[1.0, 1.0]], [[0.0, 2.0]]])
    >>> np.array(max_over_time(table, kernel, np.array([[1, 2, 0], [2, 1, 1]]), [1, 2])).tolist()
    [[5.0, 11.0], [5.0, 7.0]]
    """
    windows = _windows(ops.cast(characters, "int32"), kernel.shape[0])
    loops = _places(characters, widths)

    @custom_gradient
    def run(table: Tensor, kernel: Tensor) -> tuple[Tensor, Callable[..., Any]]:
        flat = ops.reshape(kernel, (-1, kernel.shape[-1]))

        def read(place: Tensor) -> tuple[Tensor, Tensor]:
            ids = ops.take(windows, place, axis=0)
            return ids, ops.reshape(ops.take(table, ids, axis=0), (-1, flat.shape[0]))

        def visit(
            place: Tensor, largest: Tensor, found_at: Tensor, valid: Callable[[Tensor], Tensor] | None
        ) -> tuple[Tensor, Tensor]:
            values = ops.cast(ops.matmul(read(place)[1], flat), "float32")
            if valid is not None:
                values = ops.where(valid(place), values, _BELOW_ALL)
            found_at = ops.where(values > largest, ops.cast(place, found_at.dtype), found_at)
            return ops.maximum(values, largest), found_at

        shape = ops.shape(characters)[0], flat.shape[-1]
        places = "uint8" if windows.shape[0] <= 256 else "int32"
        state = ops.full(shape, _BELOW_ALL, "float32"), ops.zeros(shape, places)
        largest, found_at = _loop(loops, visit, state)

        def gradient(upstream: Tensor) -> tuple[Tensor, Tensor]:
            transposed = ops.transpose(flat)

            def visit(
                place: Tensor, for_table: Tensor, for_kernel: Tensor, valid: Callable[[Tensor], Tensor] | None
            ) -> tuple[Tensor, Tensor]:
                ids, window = read(place)
                here = ops.equal(found_at, ops.cast(place, found_at.dtype))
                slope = ops.cast(ops.where(here, upstream, 0.0), window.dtype)
                for_kernel = for_kernel + ops.cast(ops.matmul(ops.transpose(window), slope), "float32")
                for_window = ops.reshape(ops.matmul(slope, transposed), (-1, table.shape[-1]))
                taken = ops.segment_sum(
                    ops.cast(for_window, "float32"), ops.reshape(ids, (-1,)), num_segments=table.shape[0]
                )
                return for_table + taken, for_kernel

            state = ops.zeros(table.shape, "float32"), ops.zeros(flat.shape, "float32")
            for_table, for_kernel = _loop(loops, visit, state)
            for_kernel = ops.reshape(for_kernel, kernel.shape)
            return ops.cast(for_table, table.dtype), ops.cast(for_kernel, kernel.dtype)

        return largest, gradient

    return run(ops.convert_to_tensor(table), ops.convert_to_tensor(kernel))


def _windows(characters: Tensor, widest: int) -> Tensor:
    """Returns the characters that begin at each place: int32 [places, words, widest]."""
    places = characters.shape[1]
    padded = ops.pad(characters, [(0, 0), (0, widest - 1)])
    windows = ops.stack([padded[:, shift : shift + places] for shift in range(widest)], axis=-1)
    return ops.transpose(windows, (1, 0, 2))


def _places(characters: Tensor, widths: Sequence[int]) -> list[tuple[Any, ...]]:
    """Returns (first place, place to stop at, which filters are valid at a place) of two loops.

    The second is for the last places, where wide filters reach beyond the word.
    """
    length = characters.shape[1]
    all_fit = length - max(widths) + 1
    changes = ops.any(ops.not_equal(characters[:, 1:], characters[:, :-1]), axis=0)
    last_change = ops.max(ops.where(changes, ops.arange(1, length, dtype="int32"), 0))
    stop = last_change + 1
    fits = ops.convert_to_tensor([length - width for width in widths], "int32")
    return [
        (0, ops.minimum(stop, all_fit), None),
        (all_fit, stop, lambda place: ops.less_equal(place, fits)),
    ]


def _loop(loops: list[tuple[Any, ...]], visit: Callable[..., Any], state: tuple[Tensor, ...]) -> Any:
    for first, stop, valid in loops:

        def more(place: Tensor, *state: Tensor, stop: Tensor = stop) -> Tensor:
            return ops.less(place, stop)

        def body(
            place: Tensor, *state: Tensor, valid: Callable[[Tensor], Tensor] | None = valid
        ) -> tuple[Tensor, ...]:
            return place + 1, *visit(place, *state, valid=valid)

        _, *state = ops.while_loop(more, body, (ops.convert_to_tensor(first, "int32"), *state))
    return state
