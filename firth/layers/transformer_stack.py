"""What the stacks of transformer blocks have in common."""

import keras
from keras import ops

from firth.layers.checks import check_positive
from firth.layers.norms import build_norm
from firth.layers.parts import check_block_parts
from firth.layers.relations import build_relation
from firth.layers.relative_bucket_bias import RelativeBucketBias
from firth.layers.seeds import plain_seed, seed_generator
from firth.layers.transformer_block import TransformerBlock

_OF_A_BLOCK = (
    "width",
    "attention",
    "feed_forward",
    "norm",
    "positions",
    "biases",
    "dropout",
    "initializer_stddev",
)


class TransformerStack(keras.layers.Layer):
    """Blocks one after another, what their attention reads of positions, and a norm behind pre-norm blocks.

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
        share_layers=False,
        dropout=0.1,
        initializer_stddev=0.02,
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
            name, attention=attention, feed_forward=feed_forward, norm=norm, positions=positions
        )
        self._config = {
            "layers": layers,
            "width": width,
            "attention": dict(attention),
            "feed_forward": dict(feed_forward or {}),
            "norm": dict(norm or {}),
            "positions": dict(positions) if positions else None,
            "biases": biases,
            "share_layers": share_layers,
            "dropout": dropout,
            "initializer_stddev": initializer_stddev,
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
        count = 1 if share_layers else layers
        self.blocks = [TransformerBlock(name=f"block_{index}", **block, **common) for index in range(count)]
        self.positions = build_relation(
            positions,
            self.blocks[0].attention,
            bidirectional,
            epsilon=self._config["norm"].get("epsilon", 1e-12),
            dropout=dropout,
            initializer_stddev=initializer_stddev,
            **common,
        )
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
        """Returns hidden states behind the last block, and with `cache` a pair of them and the new cache."""
        bias, positions = self._relate(bias, position_ids, first)
        reading = {**reading, "positions": positions, "training": training}
        caches = []
        for index in range(self.depth):
            block = self.blocks[index % len(self.blocks)]
            if cache is None:
                hidden = block(hidden, bias, **reading)
            else:
                hidden, written = block(hidden, bias, cache=cache[index], index=first, **reading)
                caches.append(written)
        hidden = hidden if self.final_norm is None else self.final_norm(hidden)
        return hidden if cache is None else (hidden, tuple(caches))

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
