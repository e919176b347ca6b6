"""Base of the stacks of transformer blocks, and the layers of their positions."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import keras
from keras import ops

from firth.layers.attention.attention_bias import AttentionMask, RowBias, window_bias
from firth.layers.attention.key_value_cache import KeysValues, Write, places_from
from firth.layers.attention.row_chunked_attention import suits_rows
from firth.layers.blocks.transformer_block import TransformerBlock
from firth.layers.elements.configs import AnyStack, stack_of
from firth.layers.elements.custom_gradient import gather_tokens
from firth.layers.elements.dropout import Dropout
from firth.layers.elements.norms import build_norm
from firth.layers.elements.rematerialisation import BlocksLayer
from firth.layers.elements.seeds import seed_generator
from firth.layers.elements.types import Seed, Shape, Tensor
from firth.layers.positions.disentangled_positions import DisentangledPositions
from firth.layers.positions.relative_bucket_bias import RelativeBucketBias
from firth.layers.positions.rotary_positions import RotaryPositions

if TYPE_CHECKING:
    from firth.recipes.models.stack import StackConfig

# The cache of each layer, as `TransformerBlock.empty_cache` returns it.
Cache = tuple[tuple[KeysValues, ...], ...]
# The bias of each layer's scores, and the tensor of positions that its attention reads otherwise.
Related = list[tuple[Any, Tensor | None]]
# A layer that makes, once for all blocks, the tensor of positions that their attention reads.
AnyPositions = RelativeBucketBias | RotaryPositions | DisentangledPositions


class TransformerStack(BlocksLayer):
    """Blocks one after another, the layers of their positions, and a norm after pre-norm blocks.

    Subclasses make the masks.

    Args:
        stack: Settings of the stack: a `StackConfig` or a mapping of its values.
        cross_attention: Whether blocks can attend to an encoder's states.
        output_stddev: Standard deviation that the projections which end a sublayer start from.
        bidirectional: Whether tokens also see those after them.
        seed: An int, None, or a `keras.random.SeedGenerator` to share.
        **kwargs: Keywords of `keras.layers.Layer`: `name`, `dtype` (a dtype or a policy) and `trainable`.
    """

    def __init__(
        self,
        stack: AnyStack,
        cross_attention: bool = False,
        output_stddev: float | None = None,
        bidirectional: bool = True,
        seed: Seed = None,
        **kwargs: Any,
    ) -> None:
        # Angles stay float32 under mixed precision; blocks cast hidden states where they enter.
        super().__init__(autocast=False, **kwargs)
        self.stack = stack_of(stack)
        common = {"seed": seed_generator(seed), "dtype": self.dtype_policy}
        block = {"cross_attention": cross_attention, "output_stddev": output_stddev, **common}
        self._order = self.stack.order
        self._bidirectional = bidirectional
        count = 1 + max(self._order)
        self.blocks = [
            TransformerBlock(
                self.stack, name=f"block_{index}", first=self.stack.norm.first or index > 0, **block
            )
            for index in range(count)
        ]
        self.positions = build_positions(self.stack, bidirectional, **common)
        # None where layers with local attention have the positions of the others.
        self.local_positions = None
        if self.stack.positions.of_local != self.stack.positions:
            local = self.stack.model_copy(update={"positions": self.stack.positions.of_local})
            self.local_positions = build_positions(local, bidirectional, name="local_positions", **common)
        self.dropout = Dropout(self.stack.output_dropout, name="dropout", **common)
        self.final_norm = self._final_norm()

    def _final_norm(self) -> keras.layers.Layer | None:
        norm, biases = self.stack.norm, self.stack.biases
        if norm.placement == "post":
            return None
        return build_norm(norm.kind, norm.epsilon, biases=biases, dtype=self.dtype_policy, name="final_norm")

    @property
    def parts(self) -> tuple[tuple[str, ...], ...]:
        """Names of the layers that weights are in: of those before the first block, then of each block.

        Blocks are in the order of their last use, as some are used more than once.
        """
        last_use = {block: place for place, block in enumerate(self._order)}
        blocks: list[tuple[str, ...]]
        blocks = [(self.blocks[block].name,) for block in sorted(last_use, key=last_use.__getitem__)]
        if self.final_norm is not None:
            blocks[-1] = (*blocks[-1], self.final_norm.name)
        return (() if self.positions is None else (self.positions.name,), *blocks)

    @property
    def prefix_length(self) -> int:
        """Number of keys and values that additions put before those of the tokens, in each block."""
        return self.blocks[0].attention.prefix_length

    def build(self, hidden_shape: Shape) -> None:
        """Creates the weights of every block, of `positions` where they have some, and of `final_norm`.

        Args:
            hidden_shape: Shape of the hidden states, (batch, length, width); None on an axis of unknown
                length.
        """
        for block in self.blocks:
            block.build(hidden_shape)
        for part in (self.positions, self.local_positions, self.final_norm):
            if part is not None and not part.built:
                part.build(hidden_shape)

    def _run(
        self,
        hidden: Tensor,
        mask: AttentionMask,
        position_ids: Tensor | None,
        training: bool | None = None,
        wanted: Tensor | None = None,
        **reading: Any,
    ) -> Tensor:
        """Returns hidden states after the last block: all, or those at the wanted places of each row."""
        layers = self._relate_mask(mask, position_ids)
        reading = {"training": training, **reading}
        *before, last = self._order
        for layer, (place, (bias, positions)) in enumerate(zip(before, layers)):
            own = {**reading, **self._local(layer)}
            hidden = self._run_block(self.blocks[place], hidden, bias=bias, positions=positions, **own)
        bias, positions = layers[-1]
        reading |= {"positions": positions, **self._local(len(before))}
        if wanted is None:
            hidden = self._run_block(self.blocks[last], hidden, bias=bias, **reading)
        elif positions is None and not isinstance(bias, RowBias):
            # This block needs all keys and values, and everything else of these tokens only.
            queries = gather_tokens(hidden, wanted)
            bias = _rows_of_bias(bias, wanted)
            hidden = self._run_block(self.blocks[last], hidden, bias=bias, queries=queries, **reading)
        else:
            hidden = gather_tokens(self._run_block(self.blocks[last], hidden, bias=bias, **reading), wanted)
        return self._finish(hidden, training)

    def _local(self, layer: int) -> dict[str, bool]:
        return {"local": True} if self.stack.is_local(layer) else {}

    def _run_with_cache(
        self,
        hidden: Tensor,
        cache: Cache,
        index: Tensor | int,
        bias: Tensor,
        position_ids: Tensor | None,
        context_bias: Tensor | None,
        write: Write,
    ) -> tuple[Tensor, Cache]:
        """Returns hidden states after the last block, and the new cache."""
        layers = self._relate_layers(bias, position_ids, index)
        written = []
        for place, known, (bias, positions) in zip(self._order, cache, layers):
            hidden, known = self.blocks[place].call_with_cache(
                hidden, known, index, bias, context_bias, positions, write
            )
            written.append(known)
        return self._finish(hidden, None), tuple(written)

    def _finish(self, hidden: Tensor, training: bool | None) -> Tensor:
        hidden = hidden if self.final_norm is None else self.final_norm(hidden)
        return self.dropout(hidden, training=training)

    def _relate_mask(self, mask: AttentionMask, position_ids: Tensor | None) -> Related:
        """Returns for each layer the bias of its scores and other positions that its attention reads."""
        if not suits_rows(mask):
            return self._relate_layers(mask.whole(), position_ids)
        length, _ = mask.sizes
        after_prefix = places_from(self.prefix_length, length) if position_ids is None else position_ids
        seen = self._relate_rows(mask, after_prefix, self.positions)
        local = self.stack.local_attention
        if local is None:
            return [seen] * len(self._order)
        around = self._relate_rows(
            mask, after_prefix, self.local_positions or self.positions, window=local.window
        )
        return [around if self.stack.is_local(layer) else seen for layer in range(len(self._order))]

    def _relate_rows(
        self, mask: AttentionMask, places: Tensor, positions: Any, window: int | None = None
    ) -> tuple[RowBias, Tensor | None]:
        distances = positions if isinstance(positions, RelativeBucketBias) else None
        bias = RowBias(mask, distances, window, self._bidirectional, self.prefix_length, places)
        return bias, None if positions is distances else positions(places)

    def _relate_layers(self, bias: Tensor, position_ids: Tensor | None, first: Tensor | int = 0) -> Related:
        """Returns the result of `_relate` for each layer, made once for all that see the same."""
        seen = self._relate(bias, position_ids, first)
        local = self.stack.local_attention
        if local is None:
            return [seen] * len(self._order)
        length, keys = ops.shape(bias)[2:]
        hidden = window_bias(places_from(first, length), keys, local.window, self._bidirectional)
        around = self._relate(ops.add(bias, hidden), position_ids, first, self.local_positions)
        return [around if self.stack.is_local(layer) else seen for layer in range(len(self._order))]

    def _relate(
        self,
        bias: Tensor,
        position_ids: Tensor | None,
        first: Tensor | int = 0,
        positions: Any = None,
    ) -> tuple[Tensor, Tensor | None]:
        """Returns the bias with that of distances, and other positions that attention reads.

        Every token sees all of a prefix, whose places are before the first one of its document.
        """
        if self.positions is None:
            return self._with_prefix(bias, None), None
        length, keys = ops.shape(bias)[2:]
        places = places_from(first, length)
        after_prefix = places + self.prefix_length if position_ids is None else position_ids
        if not isinstance(self.positions, RelativeBucketBias):
            return self._with_prefix(bias, None), (positions or self.positions)(after_prefix)
        key_places = ops.expand_dims(ops.arange(keys, dtype="int32"), 0)
        return self._with_prefix(bias + self.positions(places, key_places), after_prefix), None

    def _with_prefix(self, bias: Tensor, places: Tensor | None) -> Tensor:
        """Returns the bias of a prefix and of the tokens, with that of distances where places are given."""
        if not self.prefix_length:
            return bias
        if places is None:
            return ops.pad(bias, ((0, 0), (0, 0), (0, 0), (self.prefix_length, 0)))
        assert self.positions is not None
        of_prefix = self.positions(places, ops.expand_dims(ops.arange(self.prefix_length, dtype="int32"), 0))
        batch, heads, length, _ = ops.shape(bias)
        of_prefix = ops.broadcast_to(of_prefix, (batch, heads, length, self.prefix_length))
        return ops.concatenate([of_prefix, bias], axis=-1)


def _rows_of_bias(bias: Tensor, places: Tensor) -> Tensor:
    """Returns the bias of the queries at some places of each row, [batch, heads or 1, places, keys]."""
    _, heads, length, keys = ops.shape(bias)
    rows = gather_tokens(ops.reshape(ops.transpose(bias, (0, 2, 1, 3)), (-1, length, heads * keys)), places)
    return ops.transpose(ops.reshape(rows, (-1, ops.shape(places)[1], heads, keys)), (0, 2, 1, 3))


def build_positions(stack: "StackConfig", bidirectional: bool, **common: Any) -> AnyPositions | None:
    """Returns the layer that makes the positions which the attention of all blocks of a stack reads."""
    make = POSITIONS.get(stack.positions.kind)
    start = {"initializer_stddev": stack.initializer_stddev, "name": "positions", **common}
    return None if make is None else make(stack, bidirectional, start)


def _relative_buckets(stack: "StackConfig", bidirectional: bool, start: dict[str, Any]) -> RelativeBucketBias:
    positions: Any = stack.positions
    if stack.scaled_initializer:
        start = {**start, "initializer_stddev": stack.width**-0.5, "truncated": False}
    return RelativeBucketBias(
        stack.attention.heads, positions.buckets, positions.max_distance, bidirectional, **start
    )


def _disentangled(stack: "StackConfig", bidirectional: bool, start: dict[str, Any]) -> DisentangledPositions:
    positions: Any = stack.positions
    return DisentangledPositions(
        stack.width, positions.max_distance, positions.buckets, stack.norm.epsilon, stack.dropout, **start
    )


def _rotary(stack: "StackConfig", bidirectional: bool, start: dict[str, Any]) -> RotaryPositions:
    positions: Any = stack.positions
    return RotaryPositions(
        stack.head_width, positions.base, positions.scaling, dtype=start["dtype"], name=start["name"]
    )


# By `positions.kind`; the other kinds are added to the embeddings.
POSITIONS: dict[str, Callable[["StackConfig", bool, dict[str, Any]], AnyPositions]] = {
    "relative_buckets": _relative_buckets,
    "disentangled": _disentangled,
    "rotary": _rotary,
}
