"""The transformer decoder over packed rows."""

import keras
from keras import ops

from firth.layers.attention.attention_bias import attention_bias
from firth.layers.blocks.transformer_stack import TransformerStack


@keras.saving.register_keras_serializable(package="firth")
class CausalTransformer(TransformerStack):
    """A stack of transformer blocks in which a token sees those before it, of its own document only.

    The decoder of GPT-2 and Llama (Radford et al. 2019, section 2.3); with cross-attention, the decoder of an
    encoder-decoder (Vaswani et al. 2017, section 3.1).

    Args:
        layers, width, attention, feed_forward, norm, positions, biases, share_layers, dropout,
            output_dropout, initializer_stddev, scaled_initializer, seed, dtype: As in `MaskedTransformer`.
        cross_attention: Whether blocks can attend to an encoder's states.
        bidirectional_prefix: Where an attention order is given, it alone decides what a token sees of its
            document, also after it. Relative buckets tell both directions apart then.
        scaled_residual_initializer: Start the projections that end a sublayer from a stddev divided by the
            root of the number of sublayers (Radford et al. 2019, section 2.3).

    Call arguments:
        hidden: Float tensor [batch, length, width].
        document_ids: Int tensor [batch, length], 0 on padding, equal on tokens that see each other. With a
            cache those of the whole rows [batch, keys]; what stands after `hidden` is not seen.
        attention_order: Int tensor as `document_ids`; a token sees those whose order is not above its own.
        position_ids: int32 [batch, length], of `hidden`; only positions that belong to attention need them.
        context: An encoder's states, float tensor [batch, keys, width].
        context_document_ids: Int tensor [batch, keys]; a token attends to its own document.
        cache: As `empty_cache` returns it, or as it came out of the last call.
        index: Int scalar, where in the rows of the cache `hidden` begins.
        training: Whether dropout acts.

    Returns:
        A float tensor [batch, length, width]; with `cache` a pair of it and the new cache.

    Raises:
        ValueError: as the parts do, naming the argument and the received value.

    Example:

    >>> import numpy as np
    >>> decoder = CausalTransformer(layers=2, width=8, attention={"heads": 2})
    >>> hidden, document_ids = np.ones((1, 4, 8)), np.array([[1, 1, 2, 0]])
    >>> tuple(decoder(hidden, document_ids).shape)
    (1, 4, 8)
    >>> cache = decoder.empty_cache(batch=1, length=4)
    >>> first, cache = decoder(hidden[:, :1], document_ids, cache=cache, index=0)
    >>> tuple(first.shape)
    (1, 1, 8)
    """

    def __init__(
        self,
        layers,
        width,
        attention,
        feed_forward=None,
        norm=None,
        positions=None,
        biases=True,
        share_layers=None,
        dropout=0.1,
        output_dropout=0.0,
        initializer_stddev=0.02,
        scaled_initializer=False,
        seed=None,
        cross_attention=False,
        bidirectional_prefix=False,
        scaled_residual_initializer=False,
        **kwargs,
    ):
        sublayers = layers * (3 if cross_attention else 2)
        super().__init__(
            layers,
            width,
            attention,
            feed_forward,
            norm,
            positions,
            biases,
            share_layers,
            dropout,
            output_dropout,
            initializer_stddev,
            scaled_initializer,
            seed,
            cross_attention=cross_attention,
            output_stddev=initializer_stddev * sublayers**-0.5 if scaled_residual_initializer else None,
            bidirectional=bidirectional_prefix,
            **kwargs,
        )
        self.bidirectional_prefix = bidirectional_prefix
        self._config |= {
            "cross_attention": cross_attention,
            "bidirectional_prefix": bidirectional_prefix,
            "scaled_residual_initializer": scaled_residual_initializer,
        }

    def call(
        self,
        hidden,
        document_ids,
        attention_order=None,
        position_ids=None,
        context=None,
        context_document_ids=None,
        cache=None,
        index=0,
        training=None,
    ):
        """Returns a float tensor [batch, length, width]; with `cache` a pair of it and the new cache."""
        own_ids, own_order = document_ids, attention_order
        if cache is not None:
            start, shape = (0, index), (ops.shape(document_ids)[0], ops.shape(hidden)[1])
            own_ids = ops.slice(document_ids, start, shape)
            own_order = None if attention_order is None else ops.slice(attention_order, start, shape)
        is_causal = attention_order is None or not self.bidirectional_prefix
        bias = attention_bias(own_ids, own_order, is_causal, index, document_ids, attention_order)
        reading = {"first": index, "cache": cache, "causal": is_causal, "training": training}
        if context is not None:
            reading["context"] = context
            reading["context_bias"] = attention_bias(own_ids, key_document_ids=context_document_ids)
        return self._run(hidden, bias, position_ids, **reading)

    def empty_cache(self, batch, length):
        """Returns the cache of rows of which nothing has been read.

        It is a tuple of one tensor [2, batch, key_value_heads, length, head_width] a layer.
        """
        return tuple(self.blocks[place].attention.empty_cache(batch, length) for place in self._order)
