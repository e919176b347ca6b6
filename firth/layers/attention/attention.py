"""Multi-head attention, with one matmul for queries, keys and values."""

from typing import Any

import keras
from keras import ops

from firth.layers.attention.attention_bias import RowBias
from firth.layers.attention.kept_probabilities import keep
from firth.layers.attention.key_value_cache import KeysValues, Write, with_tokens
from firth.layers.attention.projections import ProjectedHeads
from firth.layers.attention.row_chunked_attention import read_by_rows
from firth.layers.attention.softmax_attention import read_heads
from firth.layers.elements.dropout import Dropout
from firth.layers.elements.layer import mask_of, with_mask
from firth.layers.elements.norms import RMSNorm
from firth.layers.elements.seeds import normal, seed_generator
from firth.layers.elements.types import (
    Seed,
    Shape,
    Tensor,
    check_groups,
    check_heads,
    check_positive,
    check_width,
)


@keras.saving.register_keras_serializable(package="firth")
class Attention(ProjectedHeads):
    """Every token reads a weighted mean of the tokens that it may see.

    `softmax(Q K^T / sqrt(d) + bias) V` in each head, heads joined and projected (Vaswani et al. 2017,
    "Attention Is All You Need", section 3.2). Where there are fewer heads of keys and values than of queries,
    several query heads share one (Ainslie et al. 2023, "GQA", section 2.2): query head h reads key-value head
    `h % key_value_heads`. Scores are float32 from the bias to the softmax, whatever the dtype policy.

    `firth.layers.enable_flash_attention` leaves this to Keras's fused kernel on GPUs.

    Args:
        width: Width of the hidden states.
        heads: Query heads; they divide the width where `head_width` is None.
        key_value_heads: Heads of keys and values, which divide `heads`; as many where it is None.
        head_width: Width of a head; width over heads where it is None.
        scaled: Whether scores are divided by the root of the head's width, which T5 does not.
        dropout: Share of the attention probabilities that is dropped in training.
        biases: Whether projections have biases.
        cross: Whether keys and values come from other states than queries, those of an encoder.
        initializer_stddev: Standard deviation of the truncated normal that the kernels start from.
        output_stddev: Standard deviation of the output projection's kernel; `initializer_stddev` where it is
            None.
        scaled_initializer: Whether kernels start from normals of a stddev of one over the root of the inputs
            instead, that of queries divided by the root of a head's width unless scores are: T5's way.
        query_key_epsilon: Number added to the mean square by whose root each query and each key is divided,
            before positions turn them (Henry et al. 2020, "Query-Key Normalization for Transformers",
            section 3, with the root mean square of Qwen 3); None for no norm.
        seed: An int, None, or a `keras.random.SeedGenerator` to share; see `firth.layers.elements.seeds`.
        **kwargs: Keywords of `keras.layers.Layer`: `name`, `dtype` (a dtype or a policy) and `trainable`.

    Raises:
        ValueError: if a number is below 1, if heads do not divide as described, or if the last axis of the
            input is not `width`.

    Example:

    >>> import numpy as np
    >>> layer = Attention(width=8, heads=2)
    >>> tuple(layer(np.ones((1, 3, 8)), np.zeros((1, 1, 3, 3))).shape)
    (1, 3, 8)
    """

    def __init__(
        self,
        width: int,
        heads: int,
        key_value_heads: int | None = None,
        head_width: int | None = None,
        scaled: bool = True,
        dropout: float = 0.0,
        biases: bool = True,
        cross: bool = False,
        initializer_stddev: float = 0.02,
        output_stddev: float | None = None,
        scaled_initializer: bool = False,
        query_key_epsilon: float | None = None,
        seed: Seed = None,
        **kwargs: Any,
    ) -> None:
        # A bias stays float32 under mixed precision; hidden states are cast where they enter.
        super().__init__(autocast=False, **kwargs)
        # A subclass may fix arguments that its own signature lacks.
        self.biases, self.cross, self.scaled_initializer = biases, cross, scaled_initializer
        kind = type(self).__name__
        check_positive(kind, width=width, heads=heads)
        if head_width is None:
            check_heads(kind, width, heads)
        self.key_value_heads = heads if key_value_heads is None else key_value_heads
        self.head_width = width // heads if head_width is None else head_width
        check_positive(kind, key_value_heads=self.key_value_heads, head_width=self.head_width)
        self._check()
        self.query_norm = self.key_norm = None
        if query_key_epsilon is not None:
            norm = {"epsilon": query_key_epsilon, "dtype": self.dtype_policy}
            self.query_norm, self.key_norm = (
                RMSNorm(name="query_norm", **norm),
                RMSNorm(name="key_norm", **norm),
            )
        self.output_stddev = initializer_stddev if output_stddev is None else output_stddev
        generator = seed_generator(seed)
        joined = self.heads * self.head_width
        output_start = joined**-0.5 if scaled_initializer else self.output_stddev
        # The batch is the first of four axes, or the second of five.
        self.dropout = Dropout(
            dropout, batch_axis=-4, seed=generator, dtype=self.dtype_policy, name="dropout"
        )
        self.output_projection = keras.layers.Dense(
            self.width,
            use_bias=biases,
            kernel_initializer=normal(output_start, generator, truncated=not scaled_initializer),
            dtype=self.dtype_policy,
            name="output",
        )

    def _check(self) -> None:
        check_groups(type(self).__name__, self.heads, self.key_value_heads)

    def build(self, hidden_shape: Shape) -> None:
        """Creates the weights, with H heads of queries and G of keys and values, each of width d.

        `kernel` [width, (H + 2 G) d] and `bias` [(H + 2 G) d] make queries, keys and values, in this order;
        with `cross`, `query_kernel` [width, H d] and `query_bias` make queries, `kernel` [width, 2 G d] and
        `bias` keys and values. `output/kernel` [H d, width] and `output/bias` join the heads in the order of
        the queries: the first G of them read different key-value heads. `query_norm/scale` and
        `key_norm/scale` [d] are there with `query_key_epsilon`.

        Args:
            hidden_shape: Shape of `hidden`, (batch, length, width); None on an axis of unknown length.
        """
        check_width(type(self).__name__, self.width, hidden_shape)
        self._add_projections()
        self.dropout.build((None, self.heads, None, None))
        self.output_projection.build((None, self.heads * self.head_width))

    def call(
        self,
        hidden: Tensor,
        bias: Tensor | RowBias | None = None,
        context: Tensor | None = None,
        positions: Tensor | None = None,
        causal: bool = False,
        content: Tensor | None = None,
        local: bool = False,
        mask: Tensor | None = None,
        hidden_mask: Tensor | None = None,
        context_mask: Tensor | None = None,
        content_mask: Tensor | None = None,
        training: bool | None = None,
    ) -> Tensor:
        """Returns a float tensor [batch, length, width].

        Args:
            hidden: Float tensor [batch, length, width].
            bias: Float32 tensor [batch or 1, heads or 1, length, prefix_length + keys], added to the scores;
                see `attention_bias`. None adds nothing: every token sees all. A `RowBias` for rows so long
                that scores are held of some queries at a time.
            context: Float tensor [batch, keys, width] that keys and values are made of, with `cross` only.
            positions: Float32 tensor of angles that queries and keys are turned by; see `RotaryPositions`.
                None turns nothing.
            causal: A Python bool, whether `bias` hides every key after its query. Of long rows only those
                blocks of queries and keys are then read in which a key is seen, which packed documents make
                few; where their number cannot be left to the data (see `block_sparse`), all keys up to a
                block of queries.
            content: Float tensor [batch, keys, width] that keys and values are made of, by the same weights,
                where `hidden` is but some of its tokens; without `positions`. `hidden` itself where it is
                None.
            local: A Python bool, whether `bias` hides all keys that are not near their query. Of long rows
                only those blocks are read then in which a key is seen, where their number can be left to the
                data.
            mask: Bool tensor [batch, keys], False on tokens that nobody sees, which Keras hands on; None for
                none.
            hidden_mask: Bool tensor as `mask`, which Keras hands on by this name next to other tensors.
            context_mask: Bool tensor [batch, keys], that of a context.
            content_mask: Bool tensor [batch, keys], that of a content.
            training: Whether dropout acts; for None see `firth.layers.Dropout`.

        Raises:
            ValueError: with `cross`, without a `context`.
        """
        if self.cross and context is None:
            raise ValueError("Attention: with `cross` it needs `context`. Received: context=None")
        own = hidden_mask if content is None else content_mask
        mask = mask_of(mask, own if context is None else context_mask)
        bias, hidden = with_mask(bias, mask), ops.cast(hidden, self.compute_dtype)
        if content is None:
            query, key, value = self._project(hidden, context, positions, training)
        else:
            query, key, value = self._apart(hidden, content)
        return self._attend(hidden, query, key, value, bias, training, causal, local=local)

    def empty_cache(self, batch: int, length: int) -> KeysValues:
        """Returns the keys and values of rows of `length` tokens of which none has been read.

        Args:
            batch: Number of rows.
            length: Number of tokens of a row.

        Returns:
            A pair of zeros of the compute dtype [batch, key_value_heads, length, head_width].
        """
        shape = (batch, self.key_value_heads, length, self.head_width)
        return ops.zeros(shape, dtype=self.compute_dtype), ops.zeros(shape, dtype=self.compute_dtype)

    def call_with_cache(
        self,
        hidden: Tensor,
        cache: KeysValues,
        index: Tensor | int,
        bias: Tensor | None = None,
        positions: Tensor | None = None,
        write: Write = with_tokens,
    ) -> tuple[Tensor, KeysValues]:
        """Reads some tokens of rows whose tokens before them have been read.

        Args:
            hidden: Float tensor [batch, count, width], the tokens to read.
            cache: Float tensors [batch, key_value_heads, keys, head_width], as `empty_cache` or the last call
                returned them.
            index: Place in the rows where these tokens begin: an int scalar, or int [batch] where rows differ
                in it.
            bias: Float32 tensor [batch or 1, heads or 1, count, prefix_length + keys], which hides the keys
                that are not there yet.
            positions: Angles of these tokens, as in the call.
            write: Function as `with_tokens` that puts the tokens' keys and values into the cache.

        Returns:
            A float tensor [batch, count, width], and the cache with the keys and values of these tokens.
        """
        hidden = ops.cast(hidden, self.compute_dtype)
        query, *own = self._project_unscaled(hidden, None, positions)
        key, value = (write(known, each, index) for known, each in zip(cache, own, strict=True))
        return self._attend(hidden, query, key, value, bias, None, scale=self._scale), (key, value)

    def context_cache(self, context: Tensor) -> KeysValues:
        """Returns the keys and values of an encoder's states, with `cross` only.

        Args:
            context: Float tensor [batch, keys, width].

        Returns:
            A pair of float tensors [batch, key_value_heads, keys, head_width] of the compute dtype.
        """
        states = ops.cast(context, self.compute_dtype)
        key, value = ops.unstack(self._heads(states, self.kernel, self.bias, "key", "value"), 2)
        return key, value

    def call_with_context_cache(
        self, hidden: Tensor, cache: KeysValues, bias: Tensor | None = None
    ) -> Tensor:
        """Reads an encoder's states whose keys and values are known, with `cross` only.

        Args:
            hidden: Float tensor [batch, count, width].
            cache: Keys and values as `context_cache` returned them.
            bias: Float32 tensor [batch or 1, heads or 1, count, keys].

        Returns:
            A float tensor [batch, count, width].
        """
        hidden = ops.cast(hidden, self.compute_dtype)
        return self._attend(hidden, self._queries_unscaled(hidden), *cache, bias, None, scale=self._scale)

    def _attend(
        self,
        hidden: Tensor,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        bias: Tensor | RowBias | None,
        training: bool | None,
        causal: bool = False,
        scale: float = 1.0,
        local: bool = False,
    ) -> Tensor:
        if (prefix := self._additions.get("keys_values")) is not None:
            key, value = prefix(key, value)
        keep(query, key, bias, scale)
        if isinstance(bias, RowBias):
            context = read_by_rows(query, key, value, bias, self.dropout, training, self.prefix_length)
            return self._join_heads(context, hidden)
        context = read_heads(
            query, key, value, bias, self.dropout, training, causal, self.prefix_length, scale, local
        )
        return self._join_heads(context, hidden)
