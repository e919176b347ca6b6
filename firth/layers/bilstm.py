"""A stack of LSTMs in both directions, as ELMo has it."""

import functools
from typing import Any

import keras
from keras import ops

from firth.layers.elements.dropout import Dropout
from firth.layers.elements.layer import document_ids_of, mask_of
from firth.layers.elements.rematerialisation import BlocksLayer
from firth.layers.elements.seeds import seed_generator
from firth.layers.elements.types import Seed, Shape, Tensor, check_positive
from firth.layers.lstm import LSTM, from_steps, step_masks, to_steps
from firth.layers.lstm_recurrence import Masks


@keras.saving.register_keras_serializable(package="firth")
class BiLSTM(BlocksLayer):
    """Two stacks of LSTMs with projection, one from each end, side by side.

    Peters et al. 2018, "Deep contextualized word representations", section 3.1. The directions share no
    weights and meet nowhere: each layer reads the output of the layer below of the same direction. From the
    second layer on, its input is added to its output. Documents of a row and padding are as in `LSTM`.

    Args:
        layers: Number of layers of each direction.
        cells: Width of an LSTM's memory.
        projection_width: Width of an LSTM's output, and of the inputs where `skip_connections` are to
            reach them.
        cell_clip: Bound of each LSTM's memory; None for no bound.
        projection_clip: Bound of each LSTM's output; None for no bound.
        skip_connections: Whether a layer's input is added to its output, from the second layer on.
        dropout: Share of each layer's input that is dropped in training.
        seed: An int, None, or a `keras.random.SeedGenerator` to share; see `firth.layers.elements.seeds`.
        **kwargs: Keywords of `keras.layers.Layer`: `name`, `dtype` (a dtype or a policy) and `trainable`.

    Raises:
        ValueError: as the parts do, naming the argument and the received value.

    Example:

    >>> import numpy as np
    >>> stack = BiLSTM(layers=2, cells=8, projection_width=3)
    >>> tuple(stack(np.ones((1, 4, 5)), np.array([[1, 1, 2, 0]])).shape)
    (1, 4, 6)
    """

    # Blocks read steps.
    _batch_axis = -1

    def __init__(
        self,
        layers: int,
        cells: int,
        projection_width: int,
        cell_clip: float | None = 3.0,
        projection_clip: float | None = 3.0,
        skip_connections: bool = True,
        dropout: float = 0.1,
        seed: Seed = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        check_positive("BiLSTM", layers=layers, cells=cells, projection_width=projection_width)
        common = {"seed": seed_generator(seed), "dtype": self.dtype_policy}
        self.layers = [
            LSTM(cells, projection_width, 2, cell_clip, projection_clip, name=f"layer_{index}", **common)
            for index in range(layers)
        ]
        self.dropout = Dropout(dropout, batch_axis=-1, name="dropout", **common)

    @property
    def parts(self) -> tuple[tuple[str, ...], ...]:
        """Names of the layers that weights are in: none before the first LSTM, then each LSTM's."""
        return ((), *((layer.name,) for layer in self.layers))

    def build(self, inputs_shape: Shape, document_ids_shape: Shape | None = None) -> None:
        """Creates the weights of every layer, each for both directions.

        Args:
            inputs_shape: Shape of `inputs`, (batch, length, width); None on an axis of unknown length.
            document_ids_shape: Shape of `document_ids`, (batch, length); not read.
        """
        width = inputs_shape[-1]
        for layer in self.layers:
            layer.build((None, None, 2 * width))
            width = self.projection_width
        self.dropout.build(None)

    def call(
        self,
        inputs: Tensor,
        document_ids: Tensor | None = None,
        mask: Tensor | None = None,
        inputs_mask: Tensor | None = None,
        training: bool | None = None,
    ) -> Tensor:
        """Returns the last layer's outputs: a float tensor [batch, length, 2 * projection_width].

        The first half is that of the forward direction, which has seen a token and those before it.

        Args:
            inputs: Float tensor [batch, length, width].
            document_ids: Int tensor [batch, length], 0 on padding and equal on the tokens of a document; None
                for rows of one document.
            mask: Bool tensor [batch, length], False on padding, which Keras hands on; None for none.
            inputs_mask: Bool tensor as `mask`, which Keras hands on by this name next to other tensors.
            training: Whether dropout acts; for None see `firth.layers.Dropout`.
        """
        document_ids = document_ids_of(inputs, document_ids, mask_of(mask, inputs_mask))
        return self.run(inputs, document_ids, training=training)[0][-1]

    def run(
        self,
        inputs: Tensor,
        document_ids: Tensor,
        state: tuple[Tensor, Tensor] | None = None,
        training: bool | None = None,
    ) -> tuple[list[Tensor], tuple[Tensor, ...]]:
        """Returns the outputs of all layers, and the state after each row's last token.

        Args:
            inputs: Float tensor [batch, length, width].
            document_ids: Int tensor [batch, length], 0 on padding and equal on the tokens of a document.
            state: State that the first document of each row continues from, as returned; None for zeros.
            training: Whether dropout acts; for None see `firth.layers.Dropout`.

        Returns:
            A list of float tensors [batch, length, 2 * projection_width], one for each layer; and a pair of
            float32 tensors [batch, layers, 2, projection_width] and [batch, layers, 2, cells].
        """
        inputs = ops.cast(inputs, self.compute_dtype)
        masks = step_masks(document_ids, directions=2)
        steps = to_steps(ops.concatenate([inputs, inputs], axis=-1), directions=2)
        outputs, states = [], []
        for index in range(len(self.layers)):
            first = None if state is None else [ops.transpose(part[:, index], (1, 2, 0)) for part in state]
            run = functools.partial(self._run_layer, index)
            steps, last = self._run_block(run, steps, masks, first, training=training)
            outputs.append(from_steps(steps))
            states.append([ops.transpose(part, (2, 0, 1)) for part in last])
        return outputs, tuple(ops.stack(parts, axis=1) for parts in zip(*states))

    def _run_layer(
        self,
        index: int,
        steps: Tensor,
        masks: Masks | None,
        first: list[Tensor] | None,
        training: bool | None,
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Returns the outputs and the last state of a layer, in the layout of `LSTM.run`."""
        steps = self.dropout(steps, training=training)
        made, last = self.layers[index].run(steps, masks, first)
        return (made + steps if self.skip_connections and index > 0 else made), last

    def empty_state(self, batch: Tensor | int) -> tuple[Tensor, Tensor]:
        """Returns the state of the forward direction before the first token, a pair of zeros.

        Args:
            batch: Number of rows.

        Returns:
            float32 [batch, layers, projection_width] and [batch, layers, cells].
        """
        layers = len(self.layers)
        return ops.zeros((batch, layers, self.projection_width)), ops.zeros((batch, layers, self.cells))

    def run_forward(
        self, inputs: Tensor, document_ids: Tensor, state: tuple[Tensor, Tensor]
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Reads some tokens of rows whose tokens before them have been read, in the forward direction alone.

        Args:
            inputs: Float tensor [batch, count, width].
            document_ids: Int tensor [batch, count], 0 on padding, which leaves the state as it is.
            state: State as `empty_state` or the last call returned it.

        Returns:
            A float tensor [batch, count, projection_width], the forward half of the output of `call` for
            these tokens, and the new state.
        """
        steps = to_steps(ops.cast(inputs, self.compute_dtype), directions=1)
        masks, states = step_masks(document_ids, directions=1), []
        for index, layer in enumerate(self.layers):
            first = [ops.expand_dims(ops.transpose(part[:, index]), 0) for part in state]
            made, last = layer.run(steps, masks, first, forward_only=True)
            steps = made + steps if self.skip_connections and index > 0 else made
            states.append([ops.transpose(part[0]) for part in last])
        hidden, cells = (ops.stack(parts, axis=1) for parts in zip(*states))
        return from_steps(steps), (hidden, cells)

    def compute_output_shape(self, inputs_shape: Shape, document_ids_shape: Shape | None = None) -> Shape:
        """The shape of the inputs, with both directions last.

        Args:
            inputs_shape: Shape of `inputs`, (batch, length, width); None on an axis of unknown length.
            document_ids_shape: Shape of `document_ids`, (batch, length); not read.
        """
        return (*inputs_shape[:-1], 2 * self.projection_width)
