"""The bidirectional transformer encoder over packed rows."""

from typing import Any

import keras
from keras import ops

from firth.layers.attention.attention_bias import AttentionMask
from firth.layers.blocks.transformer_stack import TransformerStack
from firth.layers.elements.configs import AnyStack
from firth.layers.elements.layer import document_ids_of, mask_of, without_mask
from firth.layers.elements.types import Seed, Tensor
from firth.layers.positions.disentangled_positions import DisentangledPositions


@keras.saving.register_keras_serializable(package="firth")
class MaskedTransformer(TransformerStack):
    """A stack of transformer blocks in which every token sees its whole document.

    The encoder of BERT (Devlin et al. 2018, section 3) and its like, for rows that hold several documents: a
    token attends to the tokens of its own document only, in both directions, or as an attention order has it.
    Padding sees padding only, so its states are finite and reach no document.

    All blocks share the layer `positions`; a stack of pre-norm blocks ends with one more norm, `final_norm`.

    Args:
        stack: Settings of the stack: a `firth.layers.StackConfig` or a mapping of its values.
        seed: An int, None, or a `keras.random.SeedGenerator` to share; see `firth.layers.elements.seeds`.
        dtype: A Keras dtype or policy. Under `mixed_bfloat16` matmuls run in bfloat16, softmax and norms in
            float32.
        **kwargs: Keywords of `keras.layers.Layer`: `name`, `dtype` (a dtype or a policy) and `trainable`.

    Raises:
        ValueError: for a value of `stack` that does not fit, with the nearest valid name.

    Example:

    >>> import numpy as np
    >>> from firth.layers import StackConfig
    >>> encoder = MaskedTransformer(StackConfig(layers=2, width=8, attention={"heads": 2}))
    >>> tuple(encoder(np.ones((1, 4, 8)), np.array([[1, 1, 2, 0]])).shape)
    (1, 4, 8)
    """

    def __init__(self, stack: AnyStack, seed: Seed = None, **kwargs: Any) -> None:
        super().__init__(stack, seed=seed, **kwargs)

    def call(
        self,
        hidden: Tensor,
        document_ids: Tensor | None = None,
        attention_order: Tensor | None = None,
        position_ids: Tensor | None = None,
        absolute: Tensor | None = None,
        passes: int = 2,
        wanted: Tensor | None = None,
        mask: Tensor | None = None,
        hidden_mask: Tensor | None = None,
        training: bool | None = None,
    ) -> Tensor:
        """Returns a float tensor [batch, length, width], or [batch, wanted, width].

        Args:
            hidden: Float tensor [batch, length, width].
            document_ids: Int tensor [batch, length], 0 on padding, equal on tokens that see each other; None
                for rows of one document.
            attention_order: Int tensor [batch, length]; a token sees those whose order is not above its own.
                Without it, it sees all.
            position_ids: int32 [batch, length]; only positions that belong to attention need them.
            absolute: Float tensor [batch, length, width], vectors of absolute positions, with disentangled
                ones only. With them the last block decodes masked tokens (He et al. 2020, "DeBERTa", section
                3.2): it reads the states before it, and its queries are those states plus these vectors.
            passes: An int, how often the last block is then applied, each time to the queries of the time
                before.
            wanted: int32 [batch, wanted], places of the tokens whose states are returned, of which the last
                block then makes no others where its attention reads no positions. None for all tokens, and
                with `absolute`.
            mask: Bool tensor [batch, length], False on padding, which Keras hands on; None for none.
            hidden_mask: Bool tensor as `mask`, which Keras hands on by this name next to other tensors.
            training: Whether dropout acts; for None see `firth.layers.Dropout`.

        Returns:
            A float tensor [batch, length or wanted, width] of the compute dtype.

        Raises:
            ValueError: for `absolute` without disentangled positions.
        """
        mask = mask_of(mask, hidden_mask)
        seen = AttentionMask(document_ids_of(hidden, document_ids, mask), attention_order)
        hidden = without_mask(hidden, mask)
        if absolute is None:
            return self._run(hidden, seen, position_ids, training=training, wanted=wanted)
        if not isinstance(self.positions, DisentangledPositions):
            raise ValueError("MaskedTransformer: `absolute` needs disentangled positions")
        bias, positions = self._relate_mask(seen, position_ids)[0]
        reading = {"positions": positions, "training": training}
        *before, last = self._order
        for place in before:
            hidden = self._run_block(self.blocks[place], hidden, bias=bias, **reading)
        queries = ops.cast(hidden, self.compute_dtype) + ops.cast(absolute, self.compute_dtype)
        for _ in range(passes):
            queries = self._run_block(self.blocks[last], hidden, bias=bias, queries=queries, **reading)
        return self._finish(queries, training)
