"""The bidirectional transformer encoder over packed rows."""

import keras
from keras import ops

from firth.layers.attention.attention_bias import attention_bias
from firth.layers.blocks.transformer_stack import TransformerStack
from firth.layers.positions.disentangled_positions import DisentangledPositions


@keras.saving.register_keras_serializable(package="firth")
class MaskedTransformer(TransformerStack):
    """A stack of transformer blocks in which every token sees its whole document.

    The encoder of BERT (Devlin et al. 2018, section 3) and its like, for rows that hold several documents: a
    token attends to the tokens of its own document only, in both directions, or as an attention order has it.
    Padding sees padding only, so its states are finite and reach no document.

    Args:
        layers: Blocks.
        width: Of the hidden states.
        attention: A dict: `heads`, and if wanted `key_value_heads`, `head_width`, `scaled` and `dropout`; see
            `Attention`.
        feed_forward: A dict: `width`, `activation`, `gated` and `dropout`; see `FeedForward`.
        norm: A dict: `kind`, `placement` and `epsilon`; see `build_norm` and `TransformerBlock`. A stack of
            pre-norm blocks ends with one more norm, `final_norm`.
        positions: None, or the recipe's `positions` as a dict; the kinds `rotary`, `relative_buckets` and
            `disentangled` belong to attention, with what all blocks share of them in `positions`.
        biases: Of all projections and layer norms.
        share_layers: None, or a dict: `groups` and `blocks`. Each group of `blocks` is applied again and
            again, one group after another; `{}` applies one block `layers` times (Lan et al. 2019, "ALBERT",
            section 3.1).
        dropout: Share of each sublayer's output that is dropped in training.
        output_dropout: The same of the states after the last block and the norm after it.
        initializer_stddev: Of the truncated normal that the kernels start from.
        scaled_initializer: Start kernels by the number of their inputs instead, as in `Attention`.
        seed: An int, None, or a `keras.random.SeedGenerator` to share; see `firth.layers.elements.seeds`.
        dtype: A Keras dtype or policy. Under `mixed_bfloat16` matmuls run in bfloat16, softmax and norms in
            float32.

    Call arguments:
        hidden: Float tensor [batch, length, width].
        document_ids: Int tensor [batch, length], 0 on padding, equal on tokens that see each other.
        attention_order: Int tensor [batch, length]; a token sees those whose order is not above its own.
            Without it, it sees all.
        position_ids: int32 [batch, length]; only positions that belong to attention need them.
        absolute: Float tensor [batch, length, width], vectors of absolute positions, with disentangled ones
            only. With them the last block decodes masked tokens (He et al. 2020, "DeBERTa", section 3.2): it
            reads the states before it, and its queries are those states plus these vectors.
        passes: An int, how often the last block is then applied, each time to the queries of the time before.
        training: Whether dropout acts.

    Raises:
        ValueError: as the parts do, naming the argument and the received value.

    Example:

    >>> import numpy as np
    >>> encoder = MaskedTransformer(layers=2, width=8, attention={"heads": 2})
    >>> tuple(encoder(np.ones((1, 4, 8)), np.array([[1, 1, 2, 0]])).shape)
    (1, 4, 8)
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
        **kwargs,
    ):
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
            **kwargs,
        )

    def call(
        self,
        hidden,
        document_ids,
        attention_order=None,
        position_ids=None,
        absolute=None,
        passes=2,
        training=None,
    ):
        """Returns a float tensor [batch, length, width]."""
        bias = attention_bias(document_ids, attention_order)
        if absolute is None:
            return self._run(hidden, bias, position_ids, training=training)
        if not isinstance(self.positions, DisentangledPositions):
            raise ValueError("MaskedTransformer: `absolute` needs disentangled positions")
        bias, positions = self._relate(bias, position_ids, 0)
        reading = {"positions": positions, "training": training}
        *before, last = self._order
        for place in before:
            hidden = self.blocks[place](hidden, bias, **reading)
        queries = ops.cast(hidden, self.compute_dtype) + ops.cast(absolute, self.compute_dtype)
        for _ in range(passes):
            queries = self.blocks[last](hidden, bias, queries=queries, **reading)
        return self._finish(queries, training)
