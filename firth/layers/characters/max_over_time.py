"""Convolution over the characters of words, of which only the maximum over time is kept."""

from collections.abc import Callable, Sequence
from typing import Any

from keras import ops

from firth.layers.elements.custom_gradient import custom_gradient
from firth.layers.elements.types import Tensor

_BELOW_ALL = -1e30


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
