"""A transformer block: attention, attention to an encoder if asked, and feed-forward."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import keras
from keras import ops

from firth.layers.attention.attention import Attention
from firth.layers.attention.attention_bias import RowBias
from firth.layers.attention.disentangled_attention import DisentangledAttention
from firth.layers.attention.key_value_cache import KeysValues, Write, with_tokens
from firth.layers.blocks.feed_forward import build_feed_forward
from firth.layers.elements.configs import AnyStack, stack_of
from firth.layers.elements.dropout import Dropout
from firth.layers.elements.extensible_layer import ExtensibleLayer, Place
from firth.layers.elements.layer import mask_of, with_mask, without_mask
from firth.layers.elements.norms import build_norm
from firth.layers.elements.seeds import seed_generator
from firth.layers.elements.types import Seed, Shape, Tensor

if TYPE_CHECKING:
    from firth.recipes.models.stack import StackConfig

# A sublayer, as a function of hidden states.
Read = Callable[[Tensor], Tensor]


@keras.saving.register_keras_serializable(package="firth")
class TransformerBlock(ExtensibleLayer):
    """Attention, then feed-forward, each with dropout, a residual and a norm.

    Post-norm: `norm(x + dropout(sublayer(x)))`, the block of Vaswani et al. 2017, "Attention Is All You
    Need", sections 3.1 and 5.4, and of BERT. Pre-norm: `x + dropout(sublayer(norm(x)))`, as in GPT-2 and
    Llama.

    Args:
        stack: The stack that the block is a part of, a `StackConfig` or a mapping of its values.
        cross_attention: Whether the block can attend to an encoder's states.
        output_stddev: Standard deviation that the projections which end a sublayer start from;
            `stack.initializer_stddev` where it is None.
        first: Whether a norm precedes the attention of a pre-norm block.
        seed: An int, None, or a `keras.random.SeedGenerator` to share; see `firth.layers.elements.seeds`.
        **kwargs: Keywords of `keras.layers.Layer`: `name`, `dtype` (a dtype or a policy) and `trainable`.

    Raises:
        ValueError: for a value of `stack` that does not fit, with the nearest valid name.

    Example:

    >>> import numpy as np
    >>> block = TransformerBlock({"width": 8, "attention": {"heads": 2}})
    >>> tuple(block(np.ones((1, 3, 8)), np.zeros((1, 1, 3, 3))).shape)
    (1, 3, 8)
    """

    _stack_of: Callable[[Any], Any] = staticmethod(stack_of)

    def __init__(
        self,
        stack: AnyStack,
        cross_attention: bool = False,
        output_stddev: float | None = None,
        first: bool = True,
        seed: Seed = None,
        **kwargs: Any,
    ) -> None:
        # Biases and angles stay float32 under mixed precision; hidden states are cast where they enter.
        super().__init__(autocast=False, **kwargs)
        self.stack = self._stack_of(stack)
        common = {"seed": seed_generator(seed), "dtype": self.dtype_policy}
        start = {"output_stddev": output_stddev, **common}
        self._is_pre_norm = self.stack.norm.placement == "pre"
        self.attention = self._make_attention(**start)
        self.attention_norm = self._norm("attention_norm") if first else None
        self.cross_attention = self.cross_attention_norm = None
        if cross_attention:
            self.cross_attention = build_attention(self.stack, cross=True, name="cross_attention", **start)
            self.cross_attention_norm = self._norm("cross_attention_norm")
        self.feed_forward = build_feed_forward(
            self.stack,
            biases=self.stack.biases,
            scaled_initializer=self.stack.scaled_initializer,
            **start,
        )
        self.feed_forward_norm = self._norm("feed_forward_norm")
        self.dropout = Dropout(self.stack.dropout, name="dropout", **common)

    def _make_attention(self, **start: Any) -> Attention:
        return build_attention(self.stack, name="attention", **start)

    def _norm(self, name: str) -> keras.layers.Layer:
        norm, biases = self.stack.norm, self.stack.biases
        return build_norm(norm.kind, norm.epsilon, biases=biases, dtype=self.dtype_policy, name=name)

    def build(self, hidden_shape: Shape) -> None:
        """Creates the weights of `attention`, `cross_attention` and `feed_forward`, each with its `_norm`.

        Args:
            hidden_shape: Shape of `hidden`, (batch, length, width); None on an axis of unknown length.
        """
        for name in ("attention", "cross_attention", "feed_forward"):
            sublayer = getattr(self, name)
            if sublayer is not None:
                sublayer.build(hidden_shape)
                norm = getattr(self, f"{name}_norm")
                if norm is not None:
                    norm.build(hidden_shape)
        self.dropout.build(hidden_shape)

    def call(
        self,
        hidden: Tensor,
        bias: Tensor | RowBias | None = None,
        context: Tensor | None = None,
        context_bias: Tensor | RowBias | None = None,
        positions: Tensor | None = None,
        causal: bool = False,
        queries: Tensor | None = None,
        local: bool = False,
        mask: Tensor | None = None,
        hidden_mask: Tensor | None = None,
        context_mask: Tensor | None = None,
        training: bool | None = None,
    ) -> Tensor:
        """Returns a float tensor [batch, length, width].

        Args:
            hidden: Float tensor [batch, length, width].
            bias: Float32 tensor [batch or 1, heads or 1, length, keys], added to the attention scores; None
                adds nothing. A `RowBias` for rows so long that scores are held of some queries at a time, and
                so of `context_bias`.
            context: Float tensor [batch, keys, width], an encoder's states; without them a block that could
                attend to an encoder does not.
            context_bias: Float32 tensor as `bias`, for the attention to the encoder.
            positions: Tensor of positions that the attention reads; see `build_positions`.
            causal: A Python bool, whether `bias` hides every key after its query.
            queries: Float tensor [batch, queries, width] that the block renews, where it reads `hidden` but
                does not renew it; `bias` is that of these queries then. With `positions` of disentangled
                attention there are as many as tokens; other attention takes no `positions` then.
            local: A Python bool, whether `bias` hides all keys that are not near their query.
            mask: Bool tensor [batch, length], False on tokens that nobody sees, which Keras hands on; None
                for none.
            hidden_mask: Bool tensor as `mask`, which Keras hands on by this name next to other tensors.
            context_mask: Bool tensor [batch, keys], False on the context's padding, which Keras hands on.
            training: Whether dropout acts; for None see `firth.layers.Dropout`.
        """
        mask = mask_of(mask, hidden_mask)
        bias, context_bias = with_mask(bias, mask), with_mask(context_bias, context_mask)
        hidden = without_mask(ops.cast(hidden, self.compute_dtype), mask)
        reading = {"positions": positions, "causal": causal, "training": training}
        if local:
            reading["local"] = local
        if queries is not None:
            reading["content"] = self._before(hidden, self.attention_norm)
            hidden = ops.cast(queries, self.compute_dtype)
        read_context = None
        if context is not None and self.cross_attention is not None:
            context = without_mask(context, context_mask)
            read_context = read_with(
                self.cross_attention, bias=context_bias, context=context, training=training
            )
        return self._run(hidden, read_with(self.attention, bias=bias, **reading), read_context, training)

    def empty_cache(self, batch: int, length: int, context: Tensor | None = None) -> tuple[KeysValues, ...]:
        """Returns the cache of rows of `length` tokens of which none has been read.

        Args:
            batch: Number of rows.
            length: Number of tokens of a row.
            context: An encoder's states, float tensor [batch, keys, width], if the block attends to them.

        Returns:
            A pair of keys and values [batch, key_value_heads, length, head_width], zeros; and with a context
            the pair of its keys and values [batch, key_value_heads, keys, head_width].
        """
        cache = (self.attention.empty_cache(batch, length),)
        if context is None or self.cross_attention is None:
            return cache
        return (*cache, self.cross_attention.context_cache(context))

    def call_with_cache(
        self,
        hidden: Tensor,
        cache: tuple[KeysValues, ...],
        index: Tensor | int,
        bias: Tensor | None = None,
        context_bias: Tensor | None = None,
        positions: Tensor | None = None,
        write: Write = with_tokens,
    ) -> tuple[Tensor, tuple[KeysValues, ...]]:
        """Reads some tokens of rows whose tokens before them have been read.

        Args:
            hidden: Float tensor [batch, count, width], the tokens to read.
            cache: Keys and values as `empty_cache` or the last call returned them.
            index: Place in the rows where these tokens begin: an int scalar, or int [batch] where rows differ
                in it.
            bias: Float32 tensor [batch or 1, heads or 1, count, length], which hides tokens that are not
                there yet.
            context_bias: Float32 tensor as `bias`, for the attention to the encoder.
            positions: Tensor of the positions of these tokens that the attention reads.
            write: Function as `with_tokens` that puts the tokens' keys and values into the cache.

        Returns:
            A float tensor [batch, count, width], and the cache with the keys and values of these tokens.
        """
        own, *of_context = cache

        def read(states: Tensor) -> Tensor:
            nonlocal own
            attended, own = self.attention.call_with_cache(states, own, index, bias, positions, write)
            return attended

        read_context = None
        if of_context and self.cross_attention is not None:
            (known,) = of_context
            cross = self.cross_attention
            read_context = lambda states: cross.call_with_context_cache(states, known, context_bias)  # noqa: E731
        hidden = self._run(ops.cast(hidden, self.compute_dtype), read, read_context, None)
        return hidden, (own, *of_context)

    def _run(self, hidden: Tensor, read: Read, read_context: Read | None, training: bool | None) -> Tensor:
        """Applies the sublayers, one after another."""
        sublayers: list[tuple[str, Read, Any]] = [("attention", read, self.attention_norm)]
        if read_context is not None:
            sublayers.append(("cross_attention", read_context, self.cross_attention_norm))
        feed = read_with(self.feed_forward, training=training)
        sublayers.append(("feed_forward", feed, self.feed_forward_norm))
        for name, sublayer, norm in sublayers:
            after = self._after(hidden, norm)
            dropped = self._dropped(sublayer, training)
            hidden = after(self._extended(name, self._before(hidden, norm), dropped, after=after))
        return hidden

    def _after(self, hidden: Tensor, norm: Any) -> Read:
        """Returns the function from the output of a sublayer to the input of the next one."""
        if self._is_pre_norm:
            return lambda update: hidden + update
        return lambda update: norm(hidden + update)

    def _dropped(self, sublayer: Read, training: bool | None) -> Read:
        return lambda states: self.dropout(sublayer(states), training=training)

    def places(self) -> list[Place]:
        """Returns the sublayers with their dropout, whose outputs are added to the residual."""
        names = ["attention", "cross_attention", "feed_forward"]
        width = self.stack.width
        return [
            Place(self, name, width, width, norm=getattr(self, f"{name}_norm"))
            for name in names
            if getattr(self, name) is not None
        ]

    def _before(self, hidden: Tensor, norm: keras.layers.Layer | None) -> Tensor:
        """Returns the input of a sublayer."""
        return norm(hidden) if self._is_pre_norm and norm is not None else hidden


def read_with(layer: Callable[..., Tensor], *arguments: Any, **keywords: Any) -> Read:
    """Returns the function of the hidden states that a layer is once all else is given."""
    return lambda states: layer(states, *arguments, **keywords)


def build_attention(stack: "StackConfig", cross: bool = False, **start: Any) -> Attention:
    """Returns an attention layer of a block.

    The self-attention of disentangled positions has a class of its own, with neither a cache nor `cross`.
    """
    parts = stack.attention
    arguments = {
        "key_value_heads": parts.key_value_heads,
        "head_width": parts.head_width,
        "scaled": parts.scaled,
        "dropout": parts.dropout,
        "biases": stack.biases,
        "initializer_stddev": stack.initializer_stddev,
        "scaled_initializer": stack.scaled_initializer,
        **start,
    }
    if stack.positions.disentangled and not cross:
        return DisentangledAttention(stack.width, parts.heads, **arguments)
    epsilon = stack.norm.epsilon if parts.query_key_norm else None
    return Attention(stack.width, parts.heads, cross=cross, query_key_epsilon=epsilon, **arguments)
