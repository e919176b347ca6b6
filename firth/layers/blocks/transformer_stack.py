"""What the stacks of transformer blocks have in common."""

import keras
from keras import ops

from firth.layers.attention.relations import build_relation
from firth.layers.blocks.transformer_block import TransformerBlock
from firth.layers.elements.checks import check_positive
from firth.layers.elements.dropout import Dropout
from firth.layers.elements.norms import build_norm
from firth.layers.elements.parts import check_block_parts
from firth.layers.elements.seeds import plain_seed, seed_generator
from firth.layers.positions.relative_bucket_bias import RelativeBucketBias

_OF_A_BLOCK = (
    "width",
    "attention",
    "feed_forward",
    "norm",
    "positions",
    "biases",
    "dropout",
    "initializer_stddev",
    "scaled_initializer",
)


class TransformerStack(keras.layers.Layer):
    """Blocks one after another, what their attention reads of positions, and a norm after pre-norm blocks.

    Subclasses say what sees what.
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
        output_stddev=None,
        bidirectional=True,
        **kwargs,
    ):
        # Angles stay float32 under mixed precision; blocks cast hidden states where they enter.
        super().__init__(autocast=False, **kwargs)
        name = type(self).__name__
        check_positive(name, layers=layers, width=width)
        check_block_parts(
            name,
            attention=attention,
            feed_forward=feed_forward,
            norm=norm,
            positions=positions,
            share_layers=share_layers,
        )
        self._config = {
            "layers": layers,
            "width": width,
            "attention": dict(attention),
            "feed_forward": dict(feed_forward or {}),
            "norm": dict(norm or {}),
            "positions": dict(positions) if positions else None,
            "biases": biases,
            "share_layers": None if share_layers is None else dict(share_layers),
            "dropout": dropout,
            "output_dropout": output_dropout,
            "initializer_stddev": initializer_stddev,
            "scaled_initializer": scaled_initializer,
            "seed": plain_seed(seed),
        }
        self.depth = layers
        self.width = width
        common = {"seed": seed_generator(seed), "dtype": self.dtype_policy}
        block = {
            **{name: self._config[name] for name in _OF_A_BLOCK},
            "cross_attention": cross_attention,
            "output_stddev": output_stddev,
        }
        self._order = order_of_blocks(
            layers, **({"groups": layers} if share_layers is None else share_layers)
        )
        count = 1 + max(self._order)
        self.blocks = [TransformerBlock(name=f"block_{index}", **block, **common) for index in range(count)]
        self.positions = build_relation(
            positions,
            self.blocks[0].attention,
            bidirectional,
            epsilon=self._config["norm"].get("epsilon", 1e-12),
            dropout=dropout,
            initializer_stddev=initializer_stddev,
            scaled_initializer=scaled_initializer,
            **common,
        )
        self.dropout = Dropout(output_dropout, name="dropout", **common)
        self.final_norm = self._final_norm(**(norm or {}))

    def _final_norm(self, placement="post", **norm):
        if placement == "post":
            return None
        return build_norm(**norm, biases=self._config["biases"], dtype=self.dtype_policy, name="final_norm")

    def build(self, hidden_shape):
        """Creates the weights of every block, of `positions` where they have some, and of `final_norm`."""
        for block in self.blocks:
            block.build(hidden_shape)
        for part in (self.positions, self.final_norm):
            if part is not None and not part.built:
                part.build(hidden_shape)

    def _run(self, hidden, bias, position_ids, first=0, cache=None, training=None, **reading):
        """Returns hidden states after the last block, and with `cache` a pair of them and the new cache."""
        bias, positions = self._relate(bias, position_ids, first)
        reading = {**reading, "positions": positions, "training": training}
        caches = []
        for index, place in enumerate(self._order):
            block = self.blocks[place]
            if cache is None:
                hidden = block(hidden, bias, **reading)
            else:
                hidden, written = block(hidden, bias, cache=cache[index], index=first, **reading)
                caches.append(written)
        hidden = self._finish(hidden, training)
        return hidden if cache is None else (hidden, tuple(caches))

    def _finish(self, hidden, training):
        hidden = hidden if self.final_norm is None else self.final_norm(hidden)
        return self.dropout(hidden, training=training)

    def _relate(self, bias, position_ids, first):
        """Returns the bias with that of distances, and what else attention reads of positions."""
        if self.positions is None:
            return bias, None
        length, keys = ops.shape(bias)[2:]
        places = ops.expand_dims(ops.arange(length, dtype="int32") + first, 0)
        if not isinstance(self.positions, RelativeBucketBias):
            return bias, self.positions(places if position_ids is None else position_ids)
        key_places = ops.expand_dims(ops.arange(keys, dtype="int32"), 0)
        return bias + self.positions(places, key_places), None

    def compute_output_shape(self, hidden_shape):
        """The shape of `hidden`."""
        return tuple(hidden_shape)

    def get_config(self):
        """The constructor's arguments."""
        return {**super().get_config(), **self._config}


def order_of_blocks(layers: int, groups: int = 1, blocks: int = 1) -> list[int]:
    """Returns which block is each layer, where groups of blocks are each applied several times.

    A group of `blocks` is applied to the end before the next group is (Lan et al. 2019, "ALBERT", section
    3.1; the reference code's `num_hidden_groups` and `inner_group_num`).

    Args:
        layers: Blocks that are applied, one after another.
        groups: Groups whose weights differ.
        blocks: Blocks of a group, whose weights differ too.

    Raises:
        ValueError: if groups do not fit into the layers.

    Example:

    >>> order_of_blocks(6, groups=2), order_of_blocks(4, groups=1, blocks=2), order_of_blocks(3, groups=3)
    ([0, 0, 0, 1, 1, 1], [0, 1, 0, 1], [0, 1, 2])
    """
    if layers % blocks or not 1 <= groups <= layers // blocks:
        raise ValueError(
            "`share_layers`: `blocks` must divide `layers`, and `groups` must not be above what is left. "
            f"Received: layers={layers}, groups={groups}, blocks={blocks}"
        )
    passes = layers // blocks
    return [place * groups // passes * blocks + inner for place in range(passes) for inner in range(blocks)]
