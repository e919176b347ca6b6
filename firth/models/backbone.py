"""What backbones that begin with a token table have in common."""

import keras
from keras import ops

from firth import features as names
from firth.layers import Embedding, InputEmbedding
from firth.layers.elements.initializers import normal
from firth.layers.elements.parts import check_block_parts
from firth.layers.elements.seeds import plain_seed, seed_generator, truncated_normal

_PARTS = ("attention", "feed_forward", "norm", "positions", "embeddings", "share_layers")
_NEVER_NONE = ("attention", "feed_forward", "norm", "embeddings")
_OF_A_STACK = (
    "layers",
    "width",
    "attention",
    "feed_forward",
    "norm",
    "positions",
    "biases",
    "share_layers",
    "dropout",
    "output_dropout",
    "initializer_stddev",
    "scaled_initializer",
)


class Backbone(keras.Model):
    """A token table, and builders of what stands between it and a stack of blocks.

    Args:
        config: The constructor's arguments of the subclass, but for seed and dtype.
        seed: An int, None, or a `keras.random.SeedGenerator` to share.
        dtype: A Keras dtype or policy.
    """

    def __init__(self, config, seed=None, dtype=None, **kwargs):
        super().__init__(dtype=dtype, **kwargs)
        check_block_parts(type(self).__name__, **{name: config[name] for name in _PARTS})
        positions = {"kind": "learned"} if config["positions"] is None else config["positions"]
        parts = {name: dict(config[name] or {}) for name in _NEVER_NONE}
        config = {**config, **parts, "positions": dict(positions)}
        self._config = {**config, "seed": plain_seed(seed)}
        self.width = config["width"]
        self.embedding_width = config["embeddings"].get("width") or self.width
        self._initializer = truncated_normal(config["initializer_stddev"], seed_generator(seed))
        # Rows are summed with those of positions and segments before they are cast.
        self.token_embedding = Embedding(
            config["vocabulary_size"],
            self.embedding_width,
            config["embeddings"].get("initializer_stddev") or config["initializer_stddev"],
            truncated=not config["scaled_initializer"],
            seed=self.seed_generator,
            dtype=self.variable_dtype,
            name="token_embedding",
        )

    @property
    def seed_generator(self) -> keras.random.SeedGenerator:
        """What dropout draws from; its `state`, int [2], is (seed, draws so far)."""
        return self._initializer.seed

    def _make_embeddings(self, name):
        config = self._config
        return InputEmbedding(
            self.embedding_width,
            positions=config["positions"],
            segments=config["embeddings"].get("segments", 0),
            norm=config["norm"] if config["embeddings"].get("norm") else None,
            biases=config["biases"],
            dropout=config["dropout"],
            initializer_stddev=config["initializer_stddev"],
            seed=self.seed_generator,
            dtype=self.dtype_policy,
            name=name,
        )

    def _make_projection(self, name):
        """Returns the layer after a factorised token table, or None between equal widths."""
        if self.embedding_width == self.width:
            return None
        start = self._initializer
        if self._config["scaled_initializer"]:
            start = normal(self.embedding_width**-0.5, self.seed_generator, truncated=False)
        return keras.layers.Dense(
            self.width,
            use_bias=self._config["biases"],
            kernel_initializer=start,
            dtype=self.dtype_policy,
            name=name,
        )

    def _stack(self, **changes):
        """Returns the arguments of a stack of blocks."""
        arguments = {name: self._config[name] for name in _OF_A_STACK}
        return {**arguments, "seed": self.seed_generator, "dtype": self.dtype_policy, **changes}

    def _project(self, embedded, projection):
        """Returns embeddings as wide as the first block needs them."""
        if projection is None:
            return embedded
        rows = projection(ops.reshape(embedded, (-1, self.embedding_width)))
        return ops.reshape(rows, (*ops.shape(embedded)[:-1], self.width))

    def _build_parts(self, embeddings, projection, stack):
        """Creates the weights of what stands between the token table and the last block, and the table's."""
        shape = (None, None, self.embedding_width)
        for part in (self.token_embedding, embeddings, projection):
            if part is not None and not part.built:
                part.build(shape)
        if not stack.built:
            stack.build((None, None, self.width))

    def compute_output_shape(self, features_shape):
        """The shape of the ids, and `width`."""
        return (*features_shape[names.TOKEN_IDS], self.width)

    def get_config(self):
        """The constructor's arguments."""
        return {**keras.layers.Layer.get_config(self), **self._config}
