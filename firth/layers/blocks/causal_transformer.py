"""The transformer decoder over packed rows."""

from typing import Any

import keras
from keras import ops

from firth.layers.attention.attention_bias import AttentionMask, attention_bias
from firth.layers.attention.key_value_cache import Write, places_from, values_at, with_tokens
from firth.layers.attention.row_chunked_attention import bias_of_mask
from firth.layers.blocks.transformer_stack import Cache, TransformerStack
from firth.layers.elements.configs import AnyStack, stack_of
from firth.layers.elements.layer import document_ids_of, mask_of, without_mask
from firth.layers.elements.types import Seed, Tensor


@keras.saving.register_keras_serializable(package="firth")
class CausalTransformer(TransformerStack):
    """A stack of transformer blocks in which a token sees those before it, of its own document only.

    The decoder of GPT-2 and Llama (Radford et al. 2019, section 2.3); with cross-attention, the decoder of an
    encoder-decoder (Vaswani et al. 2017, section 3.1).

    Args:
        stack: Settings of the stack: a `firth.layers.StackConfig` or a mapping of its values.
        cross_attention: Whether blocks can attend to an encoder's states.
        bidirectional_prefix: Whether an attention order, where one is given, alone decides what a token sees
            of its document, also after it. Relative buckets tell both directions apart then.
        scaled_residual_initializer: Whether the projections that end a sublayer start from a stddev divided
            by the root of the number of sublayers (Radford et al. 2019, section 2.3).
        seed: An int, None, or a `keras.random.SeedGenerator` to share; see `firth.layers.elements.seeds`.
        dtype: A Keras dtype or policy, as of `MaskedTransformer`.
        **kwargs: Keywords of `keras.layers.Layer`: `name`, `dtype` (a dtype or a policy) and `trainable`.

    Raises:
        ValueError: for a value of `stack` that does not fit, with the nearest valid name.

    Example:

    >>> import numpy as np
    >>> from firth.layers import StackConfig
    >>> decoder = CausalTransformer(StackConfig(layers=2, width=8, attention={"heads": 2}))
    >>> hidden, document_ids = np.ones((1, 4, 8)), np.array([[1, 1, 2, 0]])
    >>> tuple(decoder(hidden, document_ids).shape)
    (1, 4, 8)
    >>> cache = decoder.empty_cache(batch=1, length=4)
    >>> first, cache = decoder.call_with_cache(hidden[:, :1], document_ids, cache, index=0)
    >>> tuple(first.shape)
    (1, 1, 8)
    """

    def __init__(
        self,
        stack: AnyStack,
        cross_attention: bool = False,
        bidirectional_prefix: bool = False,
        scaled_residual_initializer: bool = False,
        seed: Seed = None,
        **kwargs: Any,
    ) -> None:
        stack = stack_of(stack)
        if stack.positions.disentangled:
            raise ValueError("CausalTransformer: positions.kind: disentangled is for MaskedTransformer")
        sublayers = stack.layers * (3 if cross_attention else 2)
        super().__init__(
            stack,
            cross_attention=cross_attention,
            output_stddev=stack.initializer_stddev * sublayers**-0.5 if scaled_residual_initializer else None,
            bidirectional=bidirectional_prefix,
            seed=seed,
            **kwargs,
        )

    def call(
        self,
        hidden: Tensor,
        document_ids: Tensor | None = None,
        attention_order: Tensor | None = None,
        position_ids: Tensor | None = None,
        context: Tensor | None = None,
        context_document_ids: Tensor | None = None,
        mask: Tensor | None = None,
        hidden_mask: Tensor | None = None,
        context_mask: Tensor | None = None,
        training: bool | None = None,
    ) -> Tensor:
        """Returns a float tensor [batch, length, width].

        Args:
            hidden: Float tensor [batch, length, width].
            document_ids: Int tensor [batch, length], 0 on padding, equal on tokens that see each other; None
                for rows of one document.
            attention_order: Int tensor [batch, length]; a token sees those whose order is not above its own.
                None for the order of the row.
            position_ids: int32 [batch, length]; only positions that belong to attention need them.
            context: Float tensor [batch, keys, width], an encoder's states; None for no attention to them.
            context_document_ids: Int tensor [batch, keys], 0 on padding; a token attends to its own document.
                None for a context of one document, where `document_ids` is None too.
            mask: Bool tensor [batch, length], False on padding, which Keras hands on; None for none.
            hidden_mask: Bool tensor as `mask`, which Keras hands on by this name next to other tensors.
            context_mask: Bool tensor [batch, keys], False on the context's padding, which Keras hands on.
            training: Whether dropout acts; for None see `firth.layers.Dropout`.

        Returns:
            A float tensor [batch, length, width] of the compute dtype.
        """
        is_causal = self._is_causal(attention_order)
        mask = mask_of(mask, hidden_mask)
        if context is not None and (document_ids is None or context_mask is not None):
            context_document_ids = document_ids_of(context, context_document_ids, context_mask)
            context = without_mask(context, context_mask)
        document_ids, hidden = document_ids_of(hidden, document_ids, mask), without_mask(hidden, mask)
        seen = AttentionMask(document_ids, attention_order, is_causal)
        reading: dict[str, Any] = {"causal": is_causal, "training": training}
        if context is not None:
            reading["context"] = context
            reading["context_bias"] = bias_of_mask(
                AttentionMask(document_ids, key_document_ids=context_document_ids)
            )
        return self._run(hidden, seen, position_ids, **reading)

    def empty_cache(self, batch: int, length: int, context: Tensor | None = None) -> Cache:
        """Returns the cache of rows of `length` tokens of which none has been read.

        Args:
            batch: Number of rows.
            length: Number of tokens of a row.
            context: An encoder's states, float tensor [batch, keys, width], if the stack attends to them.
                Their keys and values are made here, once.

        Returns:
            For each layer the pair of its keys and values, [batch, key_value_heads, length, head_width] each,
            and with a context the pair of those of the context, [batch, key_value_heads, keys, head_width].
        """
        if not self.built:
            self.build((None, None, self.stack.width))
        caches = [block.empty_cache(batch, length, context) for block in self.blocks]
        return tuple(caches[place] for place in self._order)

    def call_with_cache(
        self,
        hidden: Tensor,
        document_ids: Tensor,
        cache: Cache,
        index: Tensor | int,
        attention_order: Tensor | None = None,
        position_ids: Tensor | None = None,
        context_document_ids: Tensor | None = None,
        write: Write = with_tokens,
    ) -> tuple[Tensor, Cache]:
        """Reads some tokens of rows whose tokens before them have been read; dropout does not act.

        Args:
            hidden: Float tensor [batch, count, width], the tokens to read.
            document_ids: Int tensor [batch, length] of the whole rows; the tokens after these are not seen.
            cache: Keys and values as `empty_cache` or the last call returned them.
            index: Place in the rows where these tokens begin: an int scalar, or int [batch] where rows differ
                in it.
            attention_order: Int tensor [batch, length] of the whole rows, as in the call.
            position_ids: int32 [batch, count] of these tokens.
            context_document_ids: Int tensor [batch, keys], with a context only.
            write: Function that puts keys and values into a cache, as
                `firth.layers.attention.key_value_cache.with_tokens` does.

        Returns:
            A float tensor [batch, count, width], equal to the output of the call for these tokens of the
            whole rows, and the new cache.
        """
        places = places_from(index, ops.shape(hidden)[1])
        own_ids = values_at(document_ids, places)
        own_order = None if attention_order is None else values_at(attention_order, places)
        is_causal = self._is_causal(attention_order)
        bias = attention_bias(own_ids, own_order, is_causal, index, document_ids, attention_order)
        context_bias = None
        if context_document_ids is not None:
            context_bias = attention_bias(own_ids, key_document_ids=context_document_ids)
        return self._run_with_cache(hidden, cache, index, bias, position_ids, context_bias, write)

    def _is_causal(self, attention_order: Tensor | None) -> bool:
        return attention_order is None or not self.bidirectional_prefix
