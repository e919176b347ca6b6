"""The projections of attention: hidden states to heads of queries, keys and values, and back."""

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import keras
import numpy as np
from keras import ops

from firth.layers.elements.extensible_layer import Columns, ExtensibleLayer, Place, by_tokens
from firth.layers.elements.layer import Divided
from firth.layers.elements.seeds import NormalColumns, drawn, normal
from firth.layers.elements.types import Tensor, reshaped
from firth.layers.positions.rotary_positions import rotate


class ProjectedHeads(Divided, ExtensibleLayer):
    """The weights of attention, and the heads that they make of states; subclasses read the heads.

    A subclass has the arguments of `Attention` as attributes, and the layers `dropout` and
    `output_projection`.
    """

    divided_weights: ClassVar[Mapping[str, int]] = {
        "kernel": 1,
        "bias": 0,
        "query_kernel": 1,
        "query_bias": 0,
        "output_projection.kernel": 0,
    }

    # Products of queries and keys that a score adds up; its variance grows with them.
    _terms = 1
    # Whether keys and values may be put before those of the tokens.
    _takes_prefix = True

    @property
    def _group(self) -> int:
        """Query heads that share a head of keys and values."""
        return self.heads // self.key_value_heads

    def _add_projections(self) -> None:
        queries, keys = self.heads * self.head_width, 2 * self.key_value_heads * self.head_width
        self.query_kernel = self.query_bias = None
        if self.cross:
            self.query_kernel, self.query_bias = self._add_projection("query_", queries, 0)
            queries = 0
        self.kernel, self.bias = self._add_projection("", queries, keys)
        for norm in (self.query_norm, self.key_norm):
            if norm is not None:
                norm.build((None, self.head_width))

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
        """Returns the initializer of a kernel with columns of queries first, then of keys and values."""
        if not self.scaled_initializer:
            return normal(self.initializer_stddev, self.dropout.seed_generator)
        of_inputs = self.width**-0.5
        of_queries = of_inputs if self.scaled else of_inputs * self.head_width**-0.5
        runs = [(queries, of_queries), (keys, of_inputs)]
        return drawn(NormalColumns(runs, self.dropout.seed_generator))

    def _project(
        self, hidden: Tensor, context: Tensor | None, positions: Tensor | None, training: bool | None = True
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Returns queries [group, batch, heads, length, head width], keys and values without the group.

        Those of training scale the queries by their weights; see `_scales`.
        """
        if not training and self._scale != 1.0:
            query, key, value = self._project_unscaled(hidden, context, positions)
            return ops.multiply(query, self._scale), key, value
        if self.cross:
            key, value = self.context_cache(context)
            return self._queries(hidden), key, value
        heads = self._heads(hidden, self.kernel, self.bias, "query", "key", "value")
        return self._taken_apart(heads, positions)

    def _project_unscaled(
        self, hidden: Tensor, context: Tensor | None, positions: Tensor | None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Returns the same of tokens that are read, not trained on, whose queries are not scaled."""
        if self.cross:
            key, value = self.context_cache(context)
            return self._queries_unscaled(hidden), key, value
        axis = self._axis_of_groups(hidden)
        heads = self._heads(hidden, self.kernel, self.bias, "query", "key", "value", scaled=False, axis=axis)
        query, key, value = self._taken_apart(heads, positions, axis)
        return self._groups_first(query, axis), key, value

    def _taken_apart(
        self, heads: Tensor, positions: Tensor | None, axis: int = 0
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Returns queries, and keys and values without the axis of the groups."""
        # The gradient of a split is one concatenation, those of slices are as many sums.
        if positions is not None:
            turned, value = ops.split(heads, [self._group + 1], axis=axis)
            angles = ops.expand_dims(positions, 2) if axis else positions
            query, key = ops.split(rotate(turned, angles), [self._group], axis=axis)
        else:
            query, key, value = ops.split(heads, [self._group, self._group + 1], axis=axis)
        return query, ops.squeeze(key, axis), ops.squeeze(value, axis)

    def _apart(self, hidden: Tensor, content: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Returns the queries of some states, and the keys and values of others."""
        joined = self.heads * self.head_width
        query_bias, bias = (None, None) if self.bias is None else (self.bias[:joined], self.bias[joined:])
        content = ops.cast(content, self.compute_dtype)
        query = self._heads(hidden, self.kernel[:, :joined], query_bias, "query")
        key, value = ops.unstack(self._heads(content, self.kernel[:, joined:], bias, "key", "value"), 2)
        return query, key, value

    def _queries(self, hidden: Tensor) -> Tensor:
        return self._heads(hidden, self.query_kernel, self.query_bias, "query")

    def _queries_unscaled(self, hidden: Tensor) -> Tensor:
        axis = self._axis_of_groups(hidden)
        heads = self._heads(hidden, self.query_kernel, self.query_bias, "query", scaled=False, axis=axis)
        return self._groups_first(heads, axis)

    def _axis_of_groups(self, states: Tensor) -> int:
        """Returns the axis of the groups that needs no transpose: of one token heads are in order already."""
        return 1 if states.shape[1] == 1 else 0

    def _groups_first(self, query: Tensor, axis: int) -> Tensor:
        if not axis:
            return query
        if self._group > 1:
            return ops.transpose(query, (1, 0, 2, 3, 4))
        return ops.expand_dims(ops.squeeze(query, 1), 0)

    def _heads(
        self,
        states: Tensor,
        kernel: Tensor,
        bias: Tensor | None,
        *names: str,
        scaled: bool = True,
        axis: int = 0,
    ) -> Tensor:
        """Returns the groups of heads of places that share a kernel, if asked with the queries' scaled.

        They are [groups, batch, heads, length, head width], or with the axis 1, for a length of 1, [batch,
        groups, heads, length, head width].
        """
        batch, length, _ = ops.shape(states)
        group_width = self.key_value_heads * self.head_width
        if self._additions.keys() & set(names):
            projected = self._heads_with_additions(states, kernel, bias, names, scaled)
        else:
            tokens = ops.reshape(states, (-1, self.width))
            projected = self._times(tokens, kernel, bias, self._scales(names) if scaled else None)
        groups = projected.shape[-1] // group_width
        if axis:
            heads = reshaped(projected, (batch, groups, self.key_value_heads, length, self.head_width))
        else:
            heads = reshaped(projected, (batch, length, groups, self.key_value_heads, self.head_width))
            # One transpose of all, after which taking them apart copies nothing.
            heads = ops.transpose(heads, (2, 0, 3, 1, 4))
        return heads if self.query_norm is None else self._normalised(heads, names, scaled, axis)

    def _normalised(self, heads: Tensor, names: tuple[str, ...], scaled: bool, axis: int) -> Tensor:
        """Returns heads of places with queries and keys normalised, and the queries scaled after that."""
        ends = np.cumsum([self._group if name == "query" else 1 for name in names]).tolist()
        split = ops.split(heads, ends[:-1], axis=axis) if len(names) > 1 else [heads]
        parts = dict(zip(names, split))
        if "query" in parts:
            query = self.query_norm(parts["query"])
            parts["query"] = query * ops.cast(self._scale, self.compute_dtype) if scaled else query
        if "key" in parts:
            parts["key"] = self.key_norm(parts["key"])
        return ops.concatenate(list(parts.values()), axis=axis)

    def _scales(self, names: tuple[str, ...]) -> Any:
        """Returns the factors of the columns of the weights.

        Scaling the queries' share of the weights is less work than scaling queries or scores, unless few
        tokens are read.
        """
        scales = [np.full(self._columns(name), self._scale_of(name)) for name in names]
        return np.concatenate(scales).astype("float32")

    def _heads_with_additions(
        self, states: Tensor, kernel: Tensor, bias: Tensor | None, names: tuple[str, ...], scaled: bool
    ) -> Tensor:
        """Returns the projections of the places, [batch, length, columns], the queries scaled at the end."""
        joint = by_tokens(lambda tokens: self._times(tokens, kernel, bias), states)
        found, begin = [], 0
        for name in names:
            own = slice(begin, begin + self._columns(name))

            def base(read: Tensor, own: slice = own) -> Tensor:
                if read is states:
                    return joint[:, :, own]
                of_own = None if bias is None else bias[own]
                return by_tokens(lambda tokens: self._times(tokens, kernel[:, own], of_own), read)

            made = self._extended(name, states, base)
            found.append(made * self._scale_of(name) if scaled else made)
            begin = own.stop
        return ops.concatenate(found, axis=-1)

    def _times(self, tokens: Tensor, kernel: Tensor, bias: Tensor | None, scales: Any = None) -> Tensor:
        def weights(values: Tensor) -> Tensor:
            return ops.cast(values if scales is None else ops.multiply(values, scales), self.compute_dtype)

        projected = ops.matmul(tokens, weights(kernel))
        return projected if bias is None else ops.add(projected, weights(bias))

    def _columns(self, name: str) -> int:
        return (self.heads if name == "query" else self.key_value_heads) * self.head_width

    def _scale_of(self, name: str) -> float:
        # A norm would undo the scale.
        return self._scale if name == "query" and self.query_norm is None else 1.0

    @property
    def _scale(self) -> float:
        return 1.0 / math.sqrt(self._terms * self.head_width) if self.scaled else 1.0

    def _join_heads(self, context: Tensor, hidden: Tensor) -> Tensor:
        if len(context.shape) == 5:
            context = ops.transpose(context, (1, 3, 0, 2, 4))
        elif context.shape[2] != 1:
            context = ops.transpose(context, (0, 2, 1, 3))
        context = ops.reshape(context, (-1, self.heads * self.head_width))
        rows = ops.shape(hidden)[:-1]
        output = self._extended_tokens("output", context, self.output_projection, rows)
        return reshaped(output, (*rows, self.width))

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
