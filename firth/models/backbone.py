"""What backbones that begin with a token table have in common."""

from typing import Any, ClassVar

import keras
from keras import ops

from firth import features as names
from firth.layers import Embedding, InputEmbedding
from firth.layers.elements.initializers import normal
from firth.layers.elements.seeds import plain_seed, seed_generator, truncated_normal
from firth.layers.elements.types import Seed, Shape, Tensor
from firth.recipes.models.model import TransformerConfig


class Backbone(keras.Model):
    """A token table, and builders of what stands between it and a stack of blocks.

    Args:
        vocabulary_size: Number of rows of the token embeddings.
        config: Shape of the model, of the subclass's `config_type`, or a mapping of its values.
        seed: An int, None, or a `keras.random.SeedGenerator` to share; see `firth.layers.elements.seeds`.
        dtype: A Keras dtype or policy.
        **kwargs: Keywords of `keras.Model`: `name` and `trainable`.

    Raises:
        ValueError: for a value of `config` that does not fit, with the nearest valid name.
    """

    config_type: ClassVar[type[TransformerConfig]]

    def __init__(
        self, vocabulary_size: int, config: Any, seed: Seed = None, dtype: Any = None, **kwargs: Any
    ) -> None:
        super().__init__(dtype=dtype, **kwargs)
        self.config: Any = self.config_type.of(config)
        self.vocabulary_size = vocabulary_size
        self.seed = plain_seed(seed)
        self.width = self.config.width
        self._initializer = truncated_normal(self.config.initializer_stddev, seed_generator(seed))
        # Rows are summed with those of positions and segments before they are cast.
        self.token_embedding = Embedding(
            vocabulary_size,
            self.config.embedding_width,
            self.config.embeddings.initializer_stddev or self.config.initializer_stddev,
            truncated=not self.config.scaled_initializer,
            seed=self.seed_generator,
            dtype=self.variable_dtype,
            name="token_embedding",
        )

    @property
    def seed_generator(self) -> keras.random.SeedGenerator:
        """What dropout draws from; its `state`, int [2], is (seed, draws so far)."""
        return self._initializer.seed

    @property
    def _common(self) -> dict[str, Any]:
        return {"seed": self.seed_generator, "dtype": self.dtype_policy}

    def _make_embeddings(self, name: str) -> InputEmbedding:
        config = self.config
        return InputEmbedding(
            config.embedding_width,
            positions=config.positions,
            segments=config.embeddings.segments,
            norm=config.norm if config.embeddings.norm else None,
            biases=config.biases,
            dropout=config.dropout,
            initializer_stddev=config.initializer_stddev,
            name=name,
            **self._common,
        )

    def _make_projection(self, name: str) -> keras.layers.Layer | None:
        """Returns the layer after a factorised token table, or None between equal widths."""
        config = self.config
        if config.embedding_width == config.width:
            return None
        start = self._initializer
        if config.scaled_initializer:
            start = normal(config.embedding_width**-0.5, self.seed_generator, truncated=False)
        return keras.layers.Dense(
            config.width,
            use_bias=config.biases,
            kernel_initializer=start,
            dtype=self.dtype_policy,
            name=name,
        )

    def _project(self, embedded: Tensor, projection: keras.layers.Layer | None) -> Tensor:
        """Returns embeddings as wide as the first block needs them."""
        if projection is None:
            return embedded
        rows = projection(ops.reshape(embedded, (-1, self.config.embedding_width)))
        return ops.reshape(rows, (*ops.shape(embedded)[:-1], self.width))

    def _build_parts(
        self, embeddings: keras.layers.Layer, projection: keras.layers.Layer | None, stack: keras.layers.Layer
    ) -> None:
        """Creates the weights of what stands between the token table and the last block, and the table's."""
        shape = (None, None, self.config.embedding_width)
        for part in (self.token_embedding, embeddings, projection):
            if part is not None and not part.built:
                part.build(shape)
        if not stack.built:
            stack.build((None, None, self.width))

    def compute_output_shape(self, features_shape: dict[str, Shape]) -> Shape:
        """The shape of the ids, and `width`.

        Args:
            features_shape: Shapes of the features by their names; that of `token_ids` is (batch, length).
        """
        return (*features_shape[names.TOKEN_IDS], self.width)

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments."""
        return {
            **keras.layers.Layer.get_config(self),
            "vocabulary_size": self.vocabulary_size,
            "config": self.config.model_dump(mode="json"),
            "seed": self.seed,
        }
