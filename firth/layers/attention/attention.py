"""Multi-head attention, with one matmul for queries, keys and values."""

import math
from typing import Any

import keras
import numpy as np
from keras import ops

from firth.layers.attention.attended import attended
from firth.layers.attention.block_sparse import read_blocks, suits_blocks
from firth.layers.elements.checks import check_groups, check_heads, check_positive, check_width
from firth.layers.elements.dropout import Dropout
from firth.layers.elements.extensible import Columns, ExtensibleLayer, Place, by_tokens
from firth.layers.elements.initializers import NormalColumns, normal
from firth.layers.elements.seeds import drawn, seed_generator
from firth.layers.elements.types import Seed, Shape, Tensor
from firth.layers.positions.rotary_positions import rotate

# Queries of a block of causal attention, and most blocks: smaller or more of them cost more than they spare,
# as `benchmarks.attention` measures.
CAUSAL_BLOCK, CAUSAL_BLOCKS = 256, 4


@keras.saving.register_keras_serializable(package="firth")
class Attention(ExtensibleLayer):
    """Every token reads a weighted mean of the tokens that it may see.

    `softmax(Q K^T / sqrt(d) + bias) V` in each head, heads joined and projected (Vaswani et al. 2017,
    "Attention Is All You Need", section 3.2). Where there are fewer heads of keys and values than of queries,
    several query heads share one (Ainslie et al. 2023, "GQA", section 2.2): query head h reads key-value head
    `h % key_value_heads`. Scores are float32 from the bias to the softmax, whatever the dtype policy.

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
        seed: An int, None, or a `keras.random.SeedGenerator` to share; see `firth.layers.elements.seeds`.
        **kwargs: Keywords of `keras.layers.Layer`: `name`, `dtype` (a dtype or a policy) and `trainable`.

    Raises:
        ValueError: if a number is below 1, if heads do not divide as said, or if the input is not as wide as
            said.

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
        seed: Seed = None,
        **kwargs: Any,
    ) -> None:
        # A bias stays float32 under mixed precision; hidden states are cast where they enter.
        super().__init__(autocast=False, **kwargs)
        # A subclass may settle what its own signature leaves out.
        self.biases, self.cross, self.scaled_initializer = biases, cross, scaled_initializer
        kind = type(self).__name__
        check_positive(kind, width=width, heads=heads)
        if head_width is None:
            check_heads(kind, width, heads)
        self.key_value_heads = heads if key_value_heads is None else key_value_heads
        self.head_width = width // heads if head_width is None else head_width
        check_positive(kind, key_value_heads=self.key_value_heads, head_width=self.head_width)
        self._check()
        self.output_stddev = initializer_stddev if output_stddev is None else output_stddev
        generator = seed_generator(seed)
        joined = self.heads * self.head_width
        output_start = joined**-0.5 if scaled_initializer else self.output_stddev
        # Of four axes the first one, of five the second one.
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

    # Products of queries and keys that a score adds up; its variance grows with them.
    _terms = 1
    # Whether keys and values may be put before those of the tokens.
    _takes_prefix = True

    @property
    def _group(self) -> int:
        """Query heads that share a head of keys and values."""
        return self.heads // self.key_value_heads

    def build(self, hidden_shape: Shape) -> None:
        """Creates the weights, with H heads of queries and G of keys and values, each of width d.

        `kernel` [width, (H + 2 G) d] and `bias` [(H + 2 G) d] make queries, keys and values, in this order;
        with `cross`, `query_kernel` [width, H d] and `query_bias` make queries, `kernel` [width, 2 G d] and
        `bias` keys and values. `output/kernel` [H d, width] and `output/bias` join the heads, which stand in
        the order of the queries: the first G of them read different key-value heads.

        Args:
            hidden_shape: Shape of `hidden`, (batch, length, width); None on an axis of unknown length.
        """
        check_width(type(self).__name__, self.width, hidden_shape)
        self._add_projections()
        self.dropout.build((None, self.heads, None, None))
        self.output_projection.build((None, self.heads * self.head_width))

    def _add_projections(self) -> None:
        queries, keys = self.heads * self.head_width, 2 * self.key_value_heads * self.head_width
        self.query_kernel = self.query_bias = None
        if self.cross:
            self.query_kernel, self.query_bias = self._add_projection("query_", queries, 0)
            queries = 0
        self.kernel, self.bias = self._add_projection("", queries, keys)

    def _add_projection(self, prefix: str, queries: int, keys: int) -> tuple[Any, Any]:
        columns = queries + keys
        kernel = self.add_weight(
            name=f"{prefix}kernel",
            shape=(self.width, columns),
            initializer=self._kernel_initializer(queries, keys),
            autocast=False,
        )
        if not self.biases:
            return kernel, None
        zeros = {"shape": (columns,), "initializer": "zeros", "autocast": False}
        return kernel, self.add_weight(name=f"{prefix}bias", **zeros)

    def _kernel_initializer(self, queries: int, keys: int) -> keras.initializers.Initializer:
        """Returns what a kernel of so many columns of queries, then of keys and values, starts from."""
        if not self.scaled_initializer:
            return normal(self.initializer_stddev, self.dropout.seed_generator)
        of_inputs = self.width**-0.5
        of_queries = of_inputs if self.scaled else of_inputs * self.head_width**-0.5
        runs = [(queries, of_queries), (keys, of_inputs)]
        return drawn(NormalColumns(runs, self.dropout.seed_generator))

    def call(
        self,
        hidden: Tensor,
        bias: Tensor | None = None,
        context: Tensor | None = None,
        positions: Tensor | None = None,
        causal: bool = False,
        content: Tensor | None = None,
        training: bool | None = None,
    ) -> Tensor:
        """Returns a float tensor [batch, length, width].

        Args:
            hidden: Float tensor [batch, length, width].
            bias: Float32 tensor [batch or 1, heads or 1, length, prefix_length + keys], added to the scores;
                see `attention_bias`. None adds nothing: every token sees all.
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
            training: Whether dropout acts; for None see `firth.layers.Dropout`.
        """
        hidden = ops.cast(hidden, self.compute_dtype)
        if content is None:
            query, key, value = self._project(hidden, context, positions)
        else:
            query, key, value = self._apart(hidden, content)
        return self._attend(hidden, query, key, value, bias, training, causal)

    def empty_cache(self, batch: int, length: int) -> Tensor:
        """Returns the keys and values of rows of `length` tokens of which none has been read.

        Args:
            batch: Number of rows.
            length: Number of tokens of a row.

        Returns:
            Zeros of the compute dtype [2, batch, key_value_heads, length, head_width].
        """
        shape = (2, batch, self.key_value_heads, length, self.head_width)
        return ops.zeros(shape, dtype=self.compute_dtype)

    def call_with_cache(
        self,
        hidden: Tensor,
        cache: Tensor,
        index: Tensor | int,
        bias: Tensor | None = None,
        positions: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Reads some tokens of rows whose tokens before them have been read.

        Args:
            hidden: Float tensor [batch, count, width], the tokens to read.
            cache: Float tensor [2, batch, key_value_heads, keys, head_width], as `empty_cache` or the last
                call returned it.
            index: Int scalar, where in the rows these tokens begin.
            bias: Float32 tensor [batch or 1, heads or 1, count, prefix_length + keys], which hides the keys
                that are not there yet.
            positions: Angles of these tokens, as in the call.

        Returns:
            A float tensor [batch, count, width], and the cache with the keys and values of these tokens.
        """
        hidden = ops.cast(hidden, self.compute_dtype)
        query, key, value = self._project(hidden, None, positions)
        cache = ops.slice_update(cache, (0, 0, 0, index, 0), ops.cast(ops.stack([key, value]), cache.dtype))
        return self._attend(hidden, query, cache[0], cache[1], bias, None), cache

    def context_cache(self, context: Tensor) -> Tensor:
        """Returns the keys and values of an encoder's states, with `cross` only.

        Args:
            context: Float tensor [batch, keys, width].

        Returns:
            A float tensor [2, batch, key_value_heads, keys, head_width] of the compute dtype.
        """
        return self._heads(ops.cast(context, self.compute_dtype), self.kernel, self.bias, "key", "value")

    def call_with_context_cache(self, hidden: Tensor, cache: Tensor, bias: Tensor | None = None) -> Tensor:
        """Reads an encoder's states whose keys and values are known, with `cross` only.

        Args:
            hidden: Float tensor [batch, count, width].
            cache: Keys and values as `context_cache` returned them.
            bias: Float32 tensor [batch or 1, heads or 1, count, keys].

        Returns:
            A float tensor [batch, count, width].
        """
        hidden = ops.cast(hidden, self.compute_dtype)
        return self._attend(hidden, self._queries(hidden), cache[0], cache[1], bias, None)

    @property
    def _scale(self) -> float:
        return 1.0 / math.sqrt(self._terms * self.head_width) if self.scaled else 1.0

    def _queries(self, hidden: Tensor) -> Tensor:
        return self._heads(hidden, self.query_kernel, self.query_bias, "query")

    def _project(
        self, hidden: Tensor, context: Tensor | None, positions: Tensor | None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Returns queries [group, batch, heads, length, head width], keys and values without the group."""
        if self.cross:
            key, value = ops.unstack(self.context_cache(context), 2)
            return self._queries(hidden), key, value
        heads = self._heads(hidden, self.kernel, self.bias, "query", "key", "value")
        # The gradient of a split is one concatenation, those of slices are as many sums.
        if positions is not None:
            turned, value = ops.split(heads, [self._group + 1], axis=0)
            query, key = ops.split(rotate(turned, positions), [self._group], axis=0)
        else:
            query, key, value = ops.split(heads, [self._group, self._group + 1], axis=0)
        return query, ops.squeeze(key, 0), ops.squeeze(value, 0)

    def _apart(self, hidden: Tensor, content: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Returns the queries of some states, and the keys and values of others."""
        joined = self.heads * self.head_width
        query_bias, bias = (None, None) if self.bias is None else (self.bias[:joined], self.bias[joined:])
        content = ops.cast(content, self.compute_dtype)
        query = self._heads(hidden, self.kernel[:, :joined], query_bias, "query")
        key, value = ops.unstack(self._heads(content, self.kernel[:, joined:], bias, "key", "value"), 2)
        return query, key, value

    def _heads(self, states: Tensor, kernel: Tensor, bias: Tensor | None, *names: str) -> Tensor:
        """Returns the groups of heads of places that share a kernel, with the queries' scaled.

        They are [groups, batch, heads, length, head width].
        """
        batch, length, _ = ops.shape(states)
        group_width = self.key_value_heads * self.head_width
        if self._additions.keys() & set(names):
            projected = self._heads_with_additions(states, kernel, bias, names)
        else:
            # Scaling the queries' share of the weights is less work than scaling queries or scores.
            scales = np.concatenate([np.full(self._columns(name), self._scale_of(name)) for name in names])
            tokens = ops.reshape(states, (-1, self.width))
            projected = self._times(tokens, kernel, bias, scales.astype("float32"))
        shape = (batch, length, projected.shape[-1] // group_width, self.key_value_heads, self.head_width)
        # One transpose of all, after which taking them apart copies nothing.
        return ops.transpose(ops.reshape(projected, shape), (2, 0, 3, 1, 4))

    def _heads_with_additions(
        self, states: Tensor, kernel: Tensor, bias: Tensor | None, names: tuple[str, ...]
    ) -> Tensor:
        """Returns what the places project to, [batch, length, columns], the queries scaled at the end."""
        joint = by_tokens(lambda tokens: self._times(tokens, kernel, bias), states)
        found, begin = [], 0
        for name in names:
            own = slice(begin, begin + self._columns(name))

            def base(read: Tensor, own: slice = own) -> Tensor:
                if read is states:
                    return joint[:, :, own]
                of_own = None if bias is None else bias[own]
                return by_tokens(lambda tokens: self._times(tokens, kernel[:, own], of_own), read)

            found.append(self._extended(name, states, base) * self._scale_of(name))
            begin = own.stop
        return ops.concatenate(found, axis=-1)

    def _times(self, tokens: Tensor, kernel: Tensor, bias: Tensor | None, scales: Any = 1.0) -> Tensor:
        projected = ops.matmul(tokens, ops.cast(ops.multiply(kernel, scales), self.compute_dtype))
        if bias is None:
            return projected
        return ops.add(projected, ops.cast(ops.multiply(bias, scales), self.compute_dtype))

    def _columns(self, name: str) -> int:
        return (self.heads if name == "query" else self.key_value_heads) * self.head_width

    def _scale_of(self, name: str) -> float:
        return self._scale if name == "query" else 1.0

    def places(self) -> list[Place]:
        """Returns the projections to queries, keys and values, and that of the joined heads, `output`.

        In self-attention there is also `keys_values`: an addition to it is called with keys and values, float
        tensors [batch, key_value_heads, keys, head_width], and returns longer ones, with as many keys before
        them as its attribute `length` says.
        """
        of_queries = (self.query_kernel, self.query_bias) if self.cross else (self.kernel, self.bias)
        first = 0 if self.cross else self._columns("query")
        joined = self.output_projection
        both = 2 * self._columns("key")
        prefix = (
            [Place(self, "keys_values", self.width, both)] if not self.cross and self._takes_prefix else []
        )
        return [
            self._place("query", *of_queries, 0),
            self._place("key", self.kernel, self.bias, first),
            self._place("value", self.kernel, self.bias, first + self._columns("key")),
            Place(
                self,
                "output",
                self._columns("query"),
                self.width,
                Columns(joined.kernel, joined.bias, 0, self.width),
            ),
            *prefix,
        ]

    @property
    def prefix_length(self) -> int:
        """Number of keys and values that an addition puts before those of the tokens."""
        prefix = self._additions.get("keys_values")
        return 0 if prefix is None else prefix.length

    def _place(self, name: str, kernel: Any, bias: Any, begin: int) -> Place:
        count = self._columns(name)
        return Place(self, name, self.width, count, Columns(kernel, bias, begin, count))

    def _attend(
        self,
        hidden: Tensor,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        bias: Tensor | None,
        training: bool | None,
        causal: bool = False,
    ) -> Tensor:
        if (prefix := self._additions.get("keys_values")) is not None:
            key, value = prefix(key, value)
        if suits_blocks(query, key, bias, causal):
            bias = ops.cast(bias, "float32")
            context = read_blocks(
                query, key, value, bias, lambda shares, parts: self.dropout(shares, parts, training=training)
            )
            return self._join_heads(context, hidden)
        # Without a group, four axes are faster than five.
        query = ops.squeeze(query, 0) if self._group == 1 else query
        if causal and (query.shape[-2] or 0) > CAUSAL_BLOCK:
            context = self._read_causally(query, key, value, bias, training)
        else:
            context = self._read(query, key, value, bias, training)
        return self._join_heads(context, hidden)

    def _join_heads(self, context: Tensor, hidden: Tensor) -> Tensor:
        axes = (0, 2, 1, 3) if len(context.shape) == 4 else (1, 3, 0, 2, 4)
        context = ops.reshape(ops.transpose(context, axes), (-1, self.heads * self.head_width))
        rows = ops.shape(hidden)[:-1]
        output = self._extended_tokens("output", context, self.output_projection, rows)
        return ops.reshape(output, ops.shape(hidden))

    def _read_causally(
        self, query: Tensor, key: Tensor, value: Tensor, bias: Tensor, training: bool | None
    ) -> Tensor:
        """Reads in blocks of queries; of the scores that causality forbids, those within a block are made."""
        length, before = query.shape[-2], self.prefix_length
        size = max(CAUSAL_BLOCK, -(-length // CAUSAL_BLOCKS))
        ends = [*range(size, length, size), length]
        blocks = ops.split(query, ends[:-1], axis=-2)
        read = [
            self._read(
                block,
                key[:, :, : before + end],
                value[:, :, : before + end],
                bias[:, :, end - block.shape[-2] : end, : before + end],
                training,
            )
            for block, end in zip(blocks, ends)
        ]
        return ops.concatenate(read, axis=-2)

    def _read(
        self, query: Tensor, key: Tensor, value: Tensor, bias: Tensor | None, training: bool | None
    ) -> Tensor:
        """Returns the mean of values that each query sees, in the axes of the queries."""
        scores = ops.cast(times(query, key), "float32")
        if bias is not None:
            scores = ops.add(scores, self._grouped(ops.cast(bias, "float32")))
        factors = self.dropout.factors(ops.shape(scores), training=training)
        return attended(scores, value, factors)

    def _grouped(self, bias: Tensor) -> Tensor:
        """Splits the axis of the heads as the scores have it."""
        if self._group == 1 or bias.shape[1] == 1:
            return bias
        batch, _, length, keys = ops.shape(bias)
        bias = ops.reshape(bias, (batch, self._group, self.key_value_heads, length, keys))
        return ops.transpose(bias, (1, 0, 2, 3, 4))


def times(queries: Tensor, keys: Tensor) -> Tensor:
    """Returns the products of every query with every key.

    Args:
        queries: Float tensor [..., batch, heads, rows, head width].
        keys: Float tensor [batch, heads, keys, head width].

    Returns:
        A float tensor [..., batch, heads, rows, keys].
    """
    return ops.matmul(queries, ops.transpose(keys, (0, 1, 3, 2)))
