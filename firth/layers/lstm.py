"""An LSTM with projection, in one direction or in two."""

from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

from firth.layers.elements.extensible_layer import Columns, ExtensibleLayer, Place
from firth.layers.elements.layer import document_ids_of, mask_of
from firth.layers.elements.seeds import seed_generator, uniform
from firth.layers.elements.types import Seed, Shape, Tensor, check_positive
from firth.layers.lstm_recurrence import Masks, lstm_recurrence

# Names of the directions, in their order, with which names of places begin.
_DIRECTIONS = ("forward", "backward")


@keras.saving.register_keras_serializable(package="firth")
class LSTM(ExtensibleLayer):
    """An LSTM whose output is projected, over packed rows.

    Sak et al. 2014, "Long Short-Term Memory Based Recurrent Neural Network Architectures for Large Scale
    Acoustic Modeling", section 2, without peepholes; the formulas are in `lstm_recurrence`. It begins each
    document of a row with a state of zeros, so that the outputs of a document do not depend on its row.
    Padding leaves the state as it is, and its outputs are zero.

    Args:
        cells: Width of the memory.
        width: Width of the projection, which is output and hidden state.
        directions: 1; or 2, of which the second reads a row from its end. They share no weights.
        cell_clip: Bound of the memory; None for no bound.
        projection_clip: Bound of the output; None for no bound.
        seed: An int, None, or a `keras.random.SeedGenerator` to share; see `firth.layers.elements.seeds`.
        **kwargs: Keywords of `keras.layers.Layer`: `name`, `dtype` (a dtype or a policy) and `trainable`.

    Raises:
        ValueError: if a number is below 1, a clip is not above 0, `directions` is neither 1 nor 2 or does not
            divide the width of the inputs.

    Example:

    >>> import numpy as np
    >>> layer = LSTM(cells=8, width=3)
    >>> tuple(layer(np.ones((2, 5, 4)), np.array([[1, 1, 1, 2, 2], [1, 1, 1, 0, 0]])).shape)
    (2, 5, 3)
    """

    def __init__(
        self,
        cells: int,
        width: int,
        directions: int = 1,
        cell_clip: float | None = None,
        projection_clip: float | None = None,
        seed: Seed = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        check_positive("LSTM", cells=cells, width=width)
        if directions not in (1, 2):
            raise ValueError(f"LSTM: `directions` must be 1 or 2. Received: directions={directions!r}")
        for name, clip in (("cell_clip", cell_clip), ("projection_clip", projection_clip)):
            if clip is not None and not clip > 0:
                raise ValueError(f"LSTM: `{name}` must be above 0, or None. Received: {name}={clip!r}")
        self._seed_generator = seed_generator(seed)

    def build(self, inputs_shape: Shape, document_ids_shape: Shape | None = None) -> None:
        """Creates the kernels of inputs, state and projection, and the bias, for all directions at once.

        The order of the gates' rows is input, forgetting, output, candidate. Kernels start uniform within the
        bounds of Glorot and Bengio 2010, the bias of the forget gates at 1 (Jozefowicz et al. 2015).

        Args:
            inputs_shape: Shape of `inputs`, (batch, length, directions * input width); None on an axis of
                unknown length.
            document_ids_shape: Shape of `document_ids`, (batch, length); not read.

        Raises:
            ValueError: if `directions` does not divide the last axis of the input.
        """
        if inputs_shape[-1] % self.directions:
            raise ValueError(
                "LSTM: `directions` must divide the last axis of the input. "
                f"Received: directions={self.directions}, input shape {tuple(inputs_shape)}"
            )
        input_width, cells = inputs_shape[-1] // self.directions, self.cells
        self.input_kernel = self._add_kernel("input_kernel", 4 * cells, input_width, input_width + self.width)
        self.recurrent_kernel = self._add_kernel(
            "recurrent_kernel", 4 * cells, self.width, input_width + self.width
        )
        self.projection_kernel = self._add_kernel("projection_kernel", self.width, cells, cells)
        self.bias = self.add_weight(
            name="bias", shape=(self.directions, 4 * cells), initializer=self._start_bias, autocast=False
        )

    def _add_kernel(self, name: str, outputs: int, inputs: int, fan_in: int) -> Any:
        bound = (6.0 / (fan_in + outputs)) ** 0.5
        start = uniform(bound, self._seed_generator)
        shape = (self.directions, outputs, inputs)
        return self.add_weight(name=name, shape=shape, initializer=start, autocast=False)

    def _start_bias(self, shape: Shape, dtype: Any = None) -> Tensor:
        gate = ops.ones((self.directions, self.cells), dtype)
        return ops.concatenate([0 * gate, gate, 0 * gate, 0 * gate], axis=1)

    def call(
        self,
        inputs: Tensor,
        document_ids: Tensor | None = None,
        mask: Tensor | None = None,
        inputs_mask: Tensor | None = None,
    ) -> Tensor:
        """Returns a float tensor [batch, length, directions * width].

        Args:
            inputs: Float tensor [batch, length, directions * input width], the part of each direction after
                that of the one before.
            document_ids: Int tensor [batch, length], 0 on padding and equal on the tokens of a document; None
                for rows of one document without padding.
            mask: Bool tensor [batch, length], False on padding, which Keras hands on; None for none.
            inputs_mask: Bool tensor as `mask`, which Keras hands on by this name next to other tensors.
        """
        mask = mask_of(mask, inputs_mask)
        if mask is not None:
            document_ids = document_ids_of(inputs, document_ids, mask)
        return self.call_with_state(inputs, document_ids)[0]

    def call_with_state(
        self, inputs: Tensor, document_ids: Tensor | None = None, state: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        """Returns outputs, and the state after each row's last token. The layer must be built.

        Args:
            inputs: Float tensor [batch, length, directions * input width].
            document_ids: Int tensor [batch, length], 0 on padding; None for rows of one document without
                padding.
            state: State that the first document of each row continues from, as returned; None for zeros.

        Returns:
            A float tensor [batch, length, directions * width], and a pair of float32 tensors
            [batch, directions, width] and [batch, directions, cells].
        """
        inputs = ops.convert_to_tensor(inputs)
        steps, masks = to_steps(inputs, self.directions), step_masks(document_ids, self.directions)
        hidden, last = self.run(steps, masks, self._first_state(steps, state))
        return from_steps(hidden), tuple(ops.transpose(each, (2, 0, 1)) for each in last)

    def run(
        self,
        steps: Tensor,
        masks: Masks | None = None,
        state: Sequence[Tensor] | None = None,
        forward_only: bool = False,
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Returns outputs and state in the layout of `lstm_recurrence`, which a stack keeps between layers.

        Args:
            steps: Float tensor [length, directions, input width, batch], the second direction reversed.
            masks: Masks as `step_masks` makes them; None for rows of one document without padding.
            state: Float32 tensors [directions, width, batch] and [directions, cells, batch]; None for zeros.
            forward_only: Whether the first direction runs alone; steps, masks and state are its own then.

        Returns:
            A tensor of the compute dtype [length, directions, width, batch], zero on padding, and the state
            after.
        """
        weights = self._weights()
        if forward_only:
            weights = tuple(each[:1] for each in weights)
        if state is None:
            state = self._first_state(steps)
        steps = ops.cast(steps, self.compute_dtype)
        hidden, last = lstm_recurrence(steps, weights, state, masks, self.cell_clip, self.projection_clip)
        if masks is not None:
            hidden = hidden * masks.real
        return ops.cast(hidden, self.compute_dtype), last

    def places(self) -> list[Place]:
        """Returns the projections of inputs, state and output, for each direction."""
        kernels = self._kernels()
        return [
            Place(
                self,
                f"{direction}_{name}",
                kernel.shape[2],
                kernel.shape[1],
                Columns(kernel, bias, 0, kernel.shape[1], turned=True, direction=number),
                reads_states=False,
            )
            for number, direction in enumerate(_DIRECTIONS[: self.directions])
            for name, (kernel, bias) in kernels.items()
        ]

    def _kernels(self) -> dict[str, tuple[Any, Any]]:
        """Returns kernels with their biases, by the names of their places."""
        return {
            "input": (self.input_kernel, self.bias),
            "recurrent": (self.recurrent_kernel, None),
            "projection": (self.projection_kernel, None),
        }

    def _weights(self) -> tuple[Tensor, ...]:
        """Returns the weights of `lstm_recurrence`, with their additions."""
        if not self._additions:
            return self.input_kernel, self.bias, self.recurrent_kernel, self.projection_kernel
        (inputs, bias), (recurrent, _), (projection, _) = (
            self._with_additions(name, *weights) for name, weights in self._kernels().items()
        )
        return inputs, bias, recurrent, projection

    def _with_additions(self, name: str, kernel: Any, bias: Any) -> tuple[Tensor, Tensor | None]:
        kernels, biases = [], []
        for number, direction in enumerate(_DIRECTIONS[: self.directions]):
            own_kernel = ops.transpose(kernel[number])
            own_bias = None if bias is None else bias[number]
            addition = self.addition(f"{direction}_{name}")
            if addition is not None:
                own_kernel, own_bias = addition.merged(own_kernel, own_bias)
            kernels.append(ops.transpose(own_kernel))
            biases.append(own_bias)
        return ops.stack(kernels), None if bias is None else ops.stack(biases)

    def _first_state(self, steps: Tensor, state: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, ...]:
        if state is not None:
            return tuple(ops.transpose(ops.cast(each, "float32"), (1, 2, 0)) for each in state)
        batch = ops.shape(steps)[-1]
        return tuple(
            ops.zeros((self.directions, rows, batch), "float32") for rows in (self.width, self.cells)
        )

    def compute_output_shape(self, inputs_shape: Shape, document_ids_shape: Shape | None = None) -> Shape:
        """The shape of the inputs, with `directions * width` last.

        Args:
            inputs_shape: Shape of `inputs`, (batch, length, directions * input width); None on an axis of
                unknown length.
            document_ids_shape: Shape of `document_ids`, (batch, length); not read.
        """
        return (*inputs_shape[:-1], self.directions * self.width)


def to_steps(inputs: Tensor, directions: int) -> Tensor:
    """[batch, length, directions * width] to [length, directions, width, batch], the second reversed.

    Args:
        inputs: Tensor [batch, length, directions * width], the part of each direction after that of the
            one before.
    """
    batch, length, width = ops.shape(inputs)
    parts = ops.reshape(inputs, (batch, length, directions, width // directions))
    return _reverse_second(ops.transpose(parts, (1, 2, 3, 0)))


def from_steps(steps: Tensor) -> Tensor:
    """The inverse of `to_steps`.

    Args:
        steps: Tensor [length, directions, width, batch], the second direction reversed.
    """
    length, directions, width, batch = ops.shape(steps)
    parts = ops.transpose(_reverse_second(steps), (3, 0, 1, 2))
    return ops.reshape(parts, (batch, length, directions * width))


def step_masks(document_ids: Tensor | None, directions: int) -> Masks | None:
    """Returns the masks of `lstm_recurrence`: where states start anew and where they stay.

    A state starts anew where a document begins, but for the first one of a row, which continues from the
    state that the row begins with. The second direction meets the last document first.

    Args:
        document_ids: Int tensor [batch, length], 0 on padding, or None.

    Example:

    >>> import numpy as np
    >>> masks = step_masks(np.array([[1, 1, 2, 0]]), directions=2)
    >>> np.array(masks.keep)[:, :, 0, 0].T.tolist()
    [[1.0, 1.0, 0.0, 1.0], [1.0, 1.0, 0.0, 1.0]]
    >>> np.array(masks.real)[:, :, 0, 0].T.tolist()
    [[1.0, 1.0, 1.0, 0.0], [0.0, 1.0, 1.0, 1.0]]
    """
    if document_ids is None:
        return None
    repeated = ops.concatenate([ops.expand_dims(document_ids, -1)] * directions, axis=-1)
    ids = to_steps(repeated, directions)
    before = ops.concatenate([ops.zeros_like(ids[:1]), ids[:-1]])
    real = ops.not_equal(ids, 0)
    first = ops.equal(ops.cumsum(ops.cast(real, "int32"), axis=0), 1)
    begins = ops.logical_and(ops.logical_and(real, ops.not_equal(ids, before)), ops.logical_not(first))
    return Masks(keep=1.0 - ops.cast(begins, "float32"), real=ops.cast(real, "float32"))


def _reverse_second(steps: Tensor) -> Tensor:
    if steps.shape[1] == 1:
        return steps
    return ops.concatenate([steps[:, :1], ops.flip(steps[:, 1:], axis=0)], axis=1)
