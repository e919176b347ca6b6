"""The loop over time of LSTMs with projection, and its gradient.

Everything in here is *feature-major*: [directions, features, batch], with time in front. In this layout the
large operand of each matmul, the weights, comes first and as it lies in memory, which takes a CPU half to a
quarter of the time that [batch, features] takes; and gates are slices without a gap.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import keras
from keras import ops

from firth.layers.elements.custom_gradient import custom_gradient
from firth.layers.elements.types import Tensor

# Rows of so many steps at most are not looped over but written out step by step, which spares the copies into
# and out of the loop; longer ones would make large graphs. Not on JAX, whose loops copy nothing: there it
# took ten times as long to compile, and on a CPU five times as long to run.
_WRITTEN_OUT = 0 if keras.backend.backend() == "jax" else 32

# The bounds of `c'` and of `h'`; None where it is not bounded.
Clips = tuple[float | None, float | None]
# A tensor [length, ...], or a list of the tensors of its steps.
Steps = Tensor | list[Tensor]


class Masks(NamedTuple):
    """Masks of the state at each step, float32 [length, directions, 1, batch] of zeros and ones.

    Attributes:
        keep: 0 where the state starts from zero.
        real: 0 on padding, which leaves the state as it is.
    """

    keep: Any
    real: Any


class _Trace(NamedTuple):
    """Values kept for the gradients, float32 [length, directions, features, batch] each, or a list of steps.

    `gates` are those of input, forgetting and output; `projected` is the input of the projection, of the
    dtype that matmuls run in.
    """

    hidden: Any
    cells: Any
    gates: Any
    candidate: Any
    projected: Any


def lstm_recurrence(
    inputs: Tensor,
    weights: tuple[Tensor, ...],
    state: Sequence[Tensor],
    masks: Masks | None = None,
    cell_clip: float | None = None,
    projection_clip: float | None = None,
) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """Runs LSTMs with projection over time, several directions side by side.

    For the input `x` of a step and the state `(h, c)` before it (Sak et al. 2014, "Long Short-Term Memory
    Based Recurrent Neural Network Architectures for Large Scale Acoustic Modeling", section 2, without
    peepholes):

        i, f, o = sigmoid(U x + V h + b), g = tanh(U x + V h + b), each its own rows
        c' = clip(i g + f c),  h' = clip(W (o tanh(c')))

    The gradient is written out. The loop over steps computes only values that depend on the step after; the
    gradient of each weight matrix is one matmul over all steps after that; derived step by step it would be a
    sum of as many large matrices as there are steps.

    Args:
        inputs: [length, directions, input_width, batch], of the dtype that matmuls run in.
        weights: `U` [directions, 4 cells, input_width], `b` [directions, 4 cells], `V` [directions, 4 cells,
            width], `W` [directions, width, cells]. The order of the rows of the first three is input,
            forgetting, output, candidate.
        state: `h` float32 [directions, width, batch] and `c` float32 [directions, cells, batch].

    Returns:
        `h` after each step, float32 [length, directions, width, batch], and the last state.

    Example: see `firth.layers.LSTM`.
    """
    clips = cell_clip, projection_clip

    @custom_gradient
    def run(
        inputs: Tensor,
        input_kernel: Tensor,
        bias: Tensor,
        recurrent_kernel: Tensor,
        projection_kernel: Tensor,
        hidden: Tensor,
        cells: Tensor,
        *read: Tensor,
    ) -> tuple[Tensor, Callable[..., Any]]:
        masks = Masks(*read) if read else None
        kernels = [
            ops.cast(kernel, inputs.dtype) for kernel in (input_kernel, recurrent_kernel, projection_kernel)
        ]
        trace = _forward(inputs, kernels, bias, (hidden, cells), masks, clips)
        before = _before(trace, (hidden, cells), masks)

        def gradient(upstream: Tensor) -> tuple[Tensor, ...]:
            steps, for_state = _backward(
                trace, before[1], kernels, masks, (cell_clip, projection_clip), upstream
            )
            none = (ops.zeros_like(mask) for mask in read)
            return *_weight_gradients(inputs, kernels[0], trace, before[0], *steps), *for_state, *none

        return (_stacked(trace.hidden), trace.cells[-1]), gradient

    hidden, last_cells = run(inputs, *weights, *state, *(masks or ()))
    return hidden, (hidden[-1], last_cells)


def _forward(
    inputs: Tensor,
    kernels: list[Tensor],
    bias: Tensor,
    state: tuple[Tensor, Tensor],
    masks: Masks | None,
    clips: Clips,
) -> _Trace:
    input_kernel, recurrent_kernel, projection_kernel = kernels
    cell_clip, projection_clip = clips
    cells = projection_kernel.shape[-1]
    from_inputs, bias = _product(input_kernel, _join_steps(inputs)), ops.expand_dims(bias, -1)

    def step(carry: tuple[Tensor, ...], from_input: Tensor, masks: Masks | None) -> tuple[Tensor, ...]:
        hidden, memory = carry[:2]
        if masks is not None:
            hidden, memory = hidden * masks.keep, memory * masks.keep
        summed = _matmul(recurrent_kernel, hidden) + ops.cast(from_input, "float32") + bias
        gates = ops.sigmoid(summed[:, : 3 * cells])
        candidate = ops.tanh(summed[:, 3 * cells :])
        of_input, of_forgetting, of_output = _thirds(gates, cells)
        new_memory = _clip(of_input * candidate + of_forgetting * memory, cell_clip)
        projected = ops.cast(of_output * ops.tanh(new_memory), inputs.dtype)
        new_hidden = _clip(_matmul(projection_kernel, projected), projection_clip)
        if masks is not None:
            new_hidden = _choose(masks.real, new_hidden, hidden)
            new_memory = _choose(masks.real, new_memory, memory)
        trace = _Trace(new_hidden, new_memory, gates, candidate, projected)
        return tuple(trace)

    length = ops.shape(inputs)[0]
    short = _is_short(inputs)
    steps = ops.split(from_inputs, length, axis=-1) if short else _split_steps(from_inputs, length)
    nothing = ops.zeros_like(state[1])
    start = (*state, ops.concatenate([nothing] * 3, axis=1), nothing, ops.cast(nothing, inputs.dtype))
    return _Trace(*_scan(step, start, steps, masks)[1])


def _backward(
    trace: _Trace,
    cells_before: Steps,
    kernels: list[Tensor],
    masks: Masks | None,
    clips: Clips,
    upstream: tuple[Tensor, Tensor],
) -> tuple[Any, Any]:
    """Returns the gradients for gate sums and projections at all steps, and for the first state."""
    # Laid out anew once: a matmul that transposes takes up to twice as long, and there is one a step.
    recurrent_kernel, projection_kernel = (ops.transpose(kernel, (0, 2, 1)) for kernel in kernels[1:])
    cell_clip, projection_clip = clips
    count, dtype = projection_kernel.shape[1], projection_kernel.dtype

    def step(carry: tuple[Tensor, ...], now: Any, masks: Masks | None) -> tuple[Tensor, ...]:
        for_hidden, for_cells = carry[:2]
        upstream_hidden, traced, before = now
        for_hidden = for_hidden + upstream_hidden
        passed_hidden = passed_cells = None
        if masks is not None:
            padding = 1.0 - masks.real
            passed_hidden, passed_cells = for_hidden * padding, for_cells * padding
            for_hidden, for_cells = for_hidden * masks.real, for_cells * masks.real
        hidden, cells, gates, candidate, _ = traced
        of_input, of_forgetting, of_output = _thirds(gates, count)
        for_projection = _inside(for_hidden, hidden, projection_clip)
        for_projected = _matmul(projection_kernel, for_projection)
        squashed = ops.tanh(cells)
        for_cells = for_cells + for_projected * of_output * (1.0 - squashed * squashed)
        for_cells = _inside(for_cells, cells, cell_clip)
        parts = [
            for_cells * candidate * (of_input - of_input * of_input),
            for_cells * before * (of_forgetting - of_forgetting * of_forgetting),
            for_projected * squashed * (of_output - of_output * of_output),
            for_cells * of_input * (1.0 - candidate * candidate),
        ]
        for_sums = ops.concatenate([ops.cast(part, dtype) for part in parts], axis=1)
        for_bias = ops.concatenate([ops.sum(part, axis=-1) for part in parts], axis=1)
        for_hidden = _matmul(recurrent_kernel, for_sums)
        for_cells = for_cells * of_forgetting
        if masks is not None:
            for_hidden = (for_hidden + passed_hidden) * masks.keep
            for_cells = (for_cells + passed_cells) * masks.keep
        return for_hidden, for_cells, for_sums, ops.cast(for_projection, dtype), for_bias

    upstream_hidden, upstream_cells = upstream
    upstream_hidden = _unstacked(upstream_hidden) if isinstance(trace.hidden, list) else upstream_hidden
    nothing = ops.zeros_like(trace.hidden[0])
    sums = ops.concatenate([ops.zeros_like(upstream_cells)] * 4, axis=1)
    start = (nothing, upstream_cells, ops.cast(sums, dtype), ops.cast(nothing, dtype), sums[..., 0])
    last, steps = _scan(step, start, (upstream_hidden, tuple(trace), cells_before), masks, reverse=True)
    return steps[2:], last[:2]


def _weight_gradients(
    inputs: Tensor,
    input_kernel: Tensor,
    trace: _Trace,
    hidden_before: Steps,
    for_sums: Steps,
    for_projection: Steps,
    for_bias: Steps,
) -> tuple[Tensor, ...]:
    """Returns the gradients for the inputs and the four weights: each matmul covers all steps."""
    for_sums = _join_steps(for_sums)
    for_inputs = _product(input_kernel, for_sums, transpose_left=True)

    def for_kernel(upstream: Tensor, read: Steps) -> Tensor:
        return _matmul(upstream, _join_steps(read), transpose_right=True)

    return (
        _split_steps(for_inputs, ops.shape(inputs)[0]),
        for_kernel(for_sums, inputs),
        ops.sum(_stacked(for_bias), axis=0),
        for_kernel(for_sums, hidden_before),
        for_kernel(_join_steps(for_projection), trace.projected),
    )


def _before(trace: _Trace, state: tuple[Tensor, Tensor], masks: Masks | None) -> list[Any]:
    """Returns `h` and `c` as each step reads them."""
    pairs = zip(state, (trace.hidden, trace.cells))
    if isinstance(trace.hidden, list):
        shifted = [[first, *later[:-1]] for first, later in pairs]
        if masks is not None:
            shifted = [
                [value * keep for value, keep in zip(each, _unstacked(masks.keep))] for each in shifted
            ]
        return shifted
    shifted = [ops.concatenate([ops.expand_dims(first, 0), later[:-1]]) for first, later in pairs]
    return shifted if masks is None else [each * masks.keep for each in shifted]


def _scan(
    step: Callable[..., Any],
    start: tuple[Tensor, ...],
    steps: Any,
    masks: Masks | None,
    reverse: bool = False,
) -> tuple[Any, Any]:
    """Returns the last carry, and all that were carried: lists of steps where `steps` are lists.

    Keras asks that each step returns its carry, so the carry holds more than the next step reads; and on
    TensorFlow it scans several tensors of unknown length not at all, so steps are looked up by number.
    """

    def numbered(carry: tuple[Tensor, ...], number: Tensor) -> tuple[Any, Any]:
        made = step(carry, _at(steps, number), None if masks is None else Masks(*_at(masks, number)))
        return made, made

    leaf = _first_leaf(steps)
    if isinstance(leaf, list):
        return _write_out(step, start, steps, masks, range(len(leaf)), reverse)
    length = ops.shape(leaf)[0]
    return ops.scan(numbered, start, ops.arange(length, dtype="int32"), reverse=reverse)


def _write_out(
    step: Callable[..., Any],
    carry: tuple[Tensor, ...],
    steps: Any,
    masks: Masks | None,
    numbers: range,
    reverse: bool,
) -> tuple[Any, Any]:
    masks = None if masks is None else Masks(*(_unstacked(each) for each in masks))
    made = []
    for number in reversed(numbers) if reverse else numbers:
        carry = step(carry, _at(steps, number), None if masks is None else Masks(*_at(masks, number)))
        made.append(carry)
    return carry, [list(each) for each in zip(*(reversed(made) if reverse else made))]


def _is_short(inputs: Tensor) -> bool:
    length = inputs.shape[0]
    return length is not None and length <= _WRITTEN_OUT


def _unstacked(values: Steps) -> list[Tensor]:
    return values if isinstance(values, list) else list(ops.unstack(values))


def _stacked(values: Steps) -> Tensor:
    return ops.stack(values) if isinstance(values, list) else values


def _at(values: Any, number: Tensor | int) -> Any:
    if isinstance(values, tuple):
        return tuple(_at(value, number) for value in values)
    return values[number] if isinstance(values, list) else ops.take(values, number, axis=0)


def _first_leaf(values: Any) -> Any:
    return _first_leaf(values[0]) if isinstance(values, tuple) else values


def _matmul(left: Tensor, right: Tensor, **transposes: bool) -> Tensor:
    """Returns the same as `_product`, in float32."""
    return ops.cast(_product(left, right, **transposes), "float32")


def _product(
    left: Tensor, right: Tensor, transpose_left: bool = False, transpose_right: bool = False
) -> Tensor:
    """Returns the product of the last two axes, of the dtype of `left`, one direction at a time.

    A batched matmul takes longer on a CPU, and TensorFlow 2.16 crashes in one that broadcasts. Each matrix is
    transposed by itself, because that becomes part of its matmul and copies nothing.
    """
    right = ops.cast(right, left.dtype)

    def matrix(values: Tensor, direction: int, transpose: bool) -> Tensor:
        return ops.transpose(values[direction]) if transpose else values[direction]

    products = [
        ops.matmul(matrix(left, direction, transpose_left), matrix(right, direction, transpose_right))
        for direction in range(left.shape[0])
    ]
    return ops.stack(products)


def _join_steps(values: Steps) -> Tensor:
    """Steps, [length, directions, features, batch] or a list, to [directions, features, length * batch]."""
    if isinstance(values, list):
        return ops.concatenate(values, axis=-1)
    length, directions, features, batch = ops.shape(values)
    return ops.reshape(ops.transpose(values, (1, 2, 0, 3)), (directions, features, length * batch))


def _split_steps(values: Tensor, length: Tensor | int) -> Tensor:
    """[directions, features, length * batch] to [length, directions, features, batch]."""
    directions, features = values.shape[:2]
    return ops.transpose(ops.reshape(values, (directions, features, length, -1)), (2, 0, 1, 3))


def _thirds(gates: Tensor, cells: int) -> tuple[Tensor, Tensor, Tensor]:
    return gates[:, :cells], gates[:, cells : 2 * cells], gates[:, 2 * cells :]


def _choose(mask: Tensor, ones: Tensor, zeros: Tensor) -> Tensor:
    return mask * ones + (1.0 - mask) * zeros


def _clip(values: Tensor, bound: float | None) -> Tensor:
    return values if bound is None else ops.clip(values, -bound, bound)


def _inside(gradient: Tensor, clipped: Tensor, bound: float | None) -> Tensor:
    """Returns the gradient of clipping: zero where the clipped value is at the bound."""
    return gradient if bound is None else gradient * ops.cast(ops.abs(clipped) < bound, gradient.dtype)
