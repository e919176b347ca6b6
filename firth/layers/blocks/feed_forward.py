"""The position-wise feed-forward layer of a transformer block."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import keras
from keras import ops

from firth.layers.elements.activations import get_activation
from firth.layers.elements.custom_gradient import times_transposed
from firth.layers.elements.dropout import Dropout
from firth.layers.elements.extensible_layer import Columns, ExtensibleLayer, Place
from firth.layers.elements.layer import Divided
from firth.layers.elements.seeds import normal, seed_generator
from firth.layers.elements.types import Seed, Shape, Tensor, check_positive, check_width, reshaped

if TYPE_CHECKING:
    from firth.recipes.models.stack import BlocksConfig


@keras.saving.register_keras_serializable(package="firth")
class FeedForward(Divided, ExtensibleLayer):
    """Two dense layers with an activation between them, applied to each token alone.

    `f(x W1 + b1) W2 + b2` (Vaswani et al. 2017, "Attention Is All You Need", section 3.3); gated,
    `(f(x V + c) * (x W1 + b1)) W2 + b2` (Shazeer 2020, "GLU Variants Improve Transformer", section 2).

    Args:
        width: Width of the hidden states.
        inner_width: Width of the layer between; four times the width where it is None.
        activation: `gelu`, `gelu_approximate`, `relu` or `silu`.
        gated: Whether the activation is multiplied with a second projection; `silu` makes it SwiGLU, `gelu`
            GEGLU.
        biases: Whether all projections have biases.
        initializer_stddev: Standard deviation of the truncated normal that the kernels start from.
        output_stddev: Standard deviation of the outer kernel; `initializer_stddev` where it is None.
        scaled_initializer: Whether kernels start from normals of a stddev of one over the root of the inputs
            instead.
        dropout: Share of the layer between that is dropped in training, after the activation and the gate.
        seed: An int, None, or a `keras.random.SeedGenerator` to share; see `firth.layers.elements.seeds`.
        **kwargs: Keywords of `keras.layers.Layer`: `name`, `dtype` (a dtype or a policy) and `trainable`.

    Raises:
        ValueError: if a width is below 1, the activation is unknown, or the last axis of the input is not
            `width`.

    Example:

    >>> import numpy as np
    >>> tuple(FeedForward(width=4, inner_width=16)(np.ones((2, 3, 4))).shape)
    (2, 3, 4)
    """

    divided_weights: ClassVar[Mapping[str, int]] = {
        "inner_kernel": 0,
        "gate_kernel": 0,
        "outer_kernel": 0,
        "inner_bias": 0,
        "gate_bias": 0,
    }

    def __init__(
        self,
        width: int,
        inner_width: int | None = None,
        activation: str = "gelu",
        gated: bool = False,
        biases: bool = True,
        initializer_stddev: float = 0.02,
        output_stddev: float | None = None,
        scaled_initializer: bool = False,
        dropout: float = 0.0,
        seed: Seed = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        check_positive("FeedForward", width=width)
        self.inner_width = 4 * width if inner_width is None else inner_width
        check_positive("FeedForward", inner_width=self.inner_width)
        self.output_stddev = initializer_stddev if output_stddev is None else output_stddev
        self._activate = get_activation(activation)
        generator = seed_generator(seed)
        inner_start, outer_start = initializer_stddev, self.output_stddev
        if scaled_initializer:
            inner_start, outer_start = width**-0.5, self.inner_width**-0.5
        self._kernel_initializer = normal(inner_start, generator, truncated=not scaled_initializer)
        self._output_initializer = normal(outer_start, generator, truncated=not scaled_initializer)
        self.dropout = Dropout(dropout, seed=generator, dtype=self.dtype_policy, name="dropout")

    def build(self, hidden_shape: Shape) -> None:
        """Creates `inner_kernel`, `inner_bias`, `outer_kernel` and `outer_bias`.

        With a gate there are also `gate_kernel` and `gate_bias`, of the projection that is activated. All
        kernels are [inner_width, width]: with the first one in this layout, which its gradient for the inputs
        wants, that matmul takes three quarters of the time on a CPU.

        Args:
            hidden_shape: Shape of `hidden`, (batch, length, width); None on an axis of unknown length.
        """
        check_width("FeedForward", self.width, hidden_shape)
        self.gate_kernel = self.gate_bias = None
        if self.gated:
            self.gate_kernel, self.gate_bias = self._add_projection("gate", self.inner_width)
        self.inner_kernel, self.inner_bias = self._add_projection("inner", self.inner_width)
        self.outer_kernel, self.outer_bias = self._add_projection("outer", self.width)
        self.dropout.build((*hidden_shape[:-1], self.inner_width))

    def _add_projection(self, name: str, bias_width: int) -> tuple[Any, Any]:
        kernel = self.add_weight(
            name=f"{name}_kernel",
            shape=(self.inner_width, self.width),
            initializer=self._output_initializer if name == "outer" else self._kernel_initializer,
        )
        if not self.biases:
            return kernel, None
        return kernel, self.add_weight(name=f"{name}_bias", shape=(bias_width,), initializer="zeros")

    def call(self, hidden: Tensor, training: bool | None = None) -> Tensor:
        """Returns a float tensor [batch, length, width].

        Args:
            hidden: Float tensor [batch, length, width].
            training: Whether dropout acts; for None see `firth.layers.Dropout`.
        """
        # With all tokens on one axis a gradient of a kernel is one matmul, not a sum of one per example.
        tokens = ops.reshape(hidden, (-1, self.width))
        rows = ops.shape(hidden)[:-1]
        inner = self._extended_tokens("inner", tokens, self._inner, rows)
        if self.gated:
            gate = self._extended_tokens("gate", tokens, self._gate, rows)
            inner = ops.multiply(self._activate(gate), inner)
        else:
            inner = self._activate(inner)
        inner = self._drop(inner, hidden, training)
        return reshaped(self._extended_tokens("outer", inner, self._outer, rows), (*rows, self.width))

    def _inner(self, tokens: Tensor) -> Tensor:
        return _plus(times_transposed(tokens, self.inner_kernel), self.inner_bias)

    def _gate(self, tokens: Tensor) -> Tensor:
        return _plus(times_transposed(tokens, self.gate_kernel), self.gate_bias)

    def _outer(self, inner: Tensor) -> Tensor:
        return _plus(ops.matmul(inner, self.outer_kernel), self.outer_bias)

    def places(self) -> list[Place]:
        """Returns the projections `inner`, with a gate `gate`, and `outer`."""
        width, inner = self.width, self.inner_width
        within = [("inner", self.inner_kernel, self.inner_bias)]
        if self.gated:
            within.append(("gate", self.gate_kernel, self.gate_bias))
        places = [
            Place(self, name, width, inner, Columns(kernel, bias, 0, inner, turned=True))
            for name, kernel, bias in within
        ]
        outer = Columns(self.outer_kernel, self.outer_bias, 0, width)
        return [*places, Place(self, "outer", inner, width, outer)]

    def _drop(self, inner: Tensor, hidden: Tensor, training: bool | None) -> Tensor:
        if not training or self.dropout.rate == 0.0:
            return inner
        of_rows = ops.reshape(inner, (*ops.shape(hidden)[:-1], self.inner_width))
        return ops.reshape(self.dropout(of_rows, training=training), (-1, self.inner_width))


def build_feed_forward(blocks: "BlocksConfig", **start: Any) -> FeedForward:
    """Returns the feed-forward layer of a block, named `feed_forward`."""
    parts = blocks.feed_forward
    return FeedForward(
        blocks.width,
        blocks.inner_width,
        parts.activation,
        parts.gated,
        dropout=parts.dropout,
        initializer_stddev=blocks.initializer_stddev,
        name="feed_forward",
        **start,
    )


def _plus(states: Tensor, bias: Tensor | None) -> Tensor:
    return states if bias is None else ops.add(states, bias)
