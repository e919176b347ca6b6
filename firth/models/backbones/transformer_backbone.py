"""Base of the backbones with a table of tokens."""

from collections.abc import Mapping
from typing import Any, ClassVar

import keras
from keras import ops

from firth import features as names
from firth.layers import Embedding, InputEmbedding
from firth.layers.blocks.transformer_stack import TransformerStack
from firth.layers.elements.extensible_layer import ExtensibleLayer, Place
from firth.layers.elements.layer import Divided
from firth.layers.elements.seeds import normal
from firth.layers.elements.types import Shape, Tensor
from firth.models.backbones.backbone import Backbone, Stages, stages_of
from firth.models.features_model import Specs, token_specs


class TransformerBackbone(Divided, Backbone):
    """A token table, and builders of the layers between it and a stack of blocks; see `Backbone`."""

    divided_weights: ClassVar[Mapping[str, int]] = {"token_embedding.table": 0}

    def _make(self) -> None:
        # Rows are summed with those of positions and segments before they are cast.
        self.token_embedding = Embedding(
            self.vocabulary_size,
            self.config.embedding_width,
            self.config.embeddings.initializer_stddev or self.config.initializer_stddev,
            truncated=not self.config.scaled_initializer,
            seed=self.seed_generator,
            dtype=self.variable_dtype,
            name="token_embedding",
        )
        self.virtual_tokens = VirtualTokens(
            self.config.embedding_width, dtype=self.variable_dtype, name="virtual_tokens"
        )

    @property
    def feature_specs(self) -> Specs:
        """Tokens, positions and documents, and segments if it has a table of them, each [batch, length]."""
        segments = [names.SEGMENT_IDS] * bool(self.config.embeddings.segments)
        return token_specs(names.TOKEN_IDS, names.POSITION_IDS, names.DOCUMENT_IDS, *segments)

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
        """Returns the layer after a factorised token table, or None where nothing projects it."""
        config = self.config
        if not config.projects_embeddings:
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

    def _build_side(
        self, embeddings: keras.layers.Layer, projection: keras.layers.Layer | None, stack: keras.layers.Layer
    ) -> None:
        """Creates the weights of the layers from the token table to the last block."""
        shape = (None, None, self.config.embedding_width)
        for part in (self.token_embedding, self.virtual_tokens, embeddings, projection):
            if part is not None and not part.built:
                part.build(shape)
        if not stack.built:
            stack.build((None, None, self.width))

    def _embed(
        self,
        embeddings: keras.layers.Layer,
        features: Mapping[str, Tensor],
        training: bool | None,
        token_ids: str = names.TOKEN_IDS,
        position_ids: str = names.POSITION_IDS,
        with_virtual: bool = False,
    ) -> Tensor:
        """Returns the sum of all embeddings before any projection, [batch, length, embedding width].

        With the virtual tokens, the features are those that `_with_additions` returns.
        """
        tokens, segments = self.token_embedding(features[token_ids]), features.get(names.SEGMENT_IDS)
        if with_virtual:
            tokens = self.virtual_tokens.prepended(tokens, features)
        return embeddings(tokens, features[position_ids], segment_ids=segments, training=training)

    def _read(
        self,
        parts: tuple[Any, Any, Any],
        features: Mapping[str, Tensor],
        training: bool | None,
        **more: Any,
    ) -> Tensor:
        """Returns the states of a stack over projected embeddings, from the three parts of a side.

        The features are those that `_with_additions` returns.
        """
        embeddings, projection, stack = parts
        embedded = self._embed(embeddings, features, training, with_virtual=True)
        return stack(
            self._project(embedded, projection),
            features[names.DOCUMENT_IDS],
            position_ids=features[names.POSITION_IDS],
            training=training,
            **more,
        )

    def _with_additions(
        self, features: Mapping[str, Tensor], stack: TransformerStack
    ) -> Mapping[str, Tensor]:
        """Returns features with places for the virtual tokens, and positions after a stack's prefix."""
        return self.virtual_tokens.before(after_prefix(features, names.POSITION_IDS, stack))


class OneStackBackbone(TransformerBackbone):
    """A token table, `embeddings`, a `projection` and one stack, which a subclass makes; see `Backbone`."""

    _stack_name: ClassVar[str]

    def _make(self) -> None:
        super()._make()
        self.embeddings = self._make_embeddings("embeddings")
        self.projection = self._make_projection("projection")

    @property
    def _parts(self) -> tuple[Any, Any, Any]:
        return self.embeddings, self.projection, getattr(self, self._stack_name)

    @property
    def stages(self) -> Stages:
        """Embeddings, then each block."""
        *before, stack = self._parts
        return stages_of((self.token_embedding, *before), stack)

    def _build_parts(self) -> None:
        self._build_side(*self._parts)

    def _read_all(self, features: Mapping[str, Tensor], training: bool | None, **more: Any) -> Tensor:
        features = self._with_additions(features, self._parts[-1])
        order = features.get(names.ATTENTION_ORDER)
        return self._read(self._parts, features, training, attention_order=order, **more)


def after_prefix(features: Mapping[str, Tensor], name: str, stack: TransformerStack) -> Mapping[str, Tensor]:
    """Returns features whose positions begin after a stack's prefix."""
    if not stack.prefix_length or name not in features:
        return features
    return {**features, name: features[name] + stack.prefix_length}


class VirtualTokens(ExtensibleLayer):
    """Puts virtual tokens before each row, and takes their states away; at first there are no such tokens.

    An addition to its place, `prompt`, is called with the features of a batch and returns a float tensor
    [batch or 1, virtual tokens, width]; its attribute `length` says their number. A virtual token is of the
    row's document, so a row should hold one, and of the first segment. Virtual tokens have the first
    positions, and those of the row come after them. Where rows have an order, virtual tokens come first.

    Example:

    >>> import numpy as np
    >>> VirtualTokens(width=4).length
    0
    """

    def __init__(self, width: int, **kwargs: Any) -> None:
        super().__init__(autocast=False, **kwargs)

    def build(self, hidden_shape: Shape) -> None:
        """Creates no weights."""

    def places(self) -> list[Place]:
        """Returns the place of the virtual tokens, `prompt`."""
        return [Place(self, "prompt", self.width, self.width)]

    @property
    def length(self) -> int:
        """Number of virtual tokens."""
        prompt = self._additions.get("prompt")
        return 0 if prompt is None else prompt.length

    def vectors(self, features: Mapping[str, Tensor]) -> Tensor:
        """Returns the virtual tokens of each row, a float tensor [batch, virtual tokens, width]."""
        vectors = self._additions["prompt"](features)
        batch = ops.shape(features[names.DOCUMENT_IDS])[0]
        return ops.broadcast_to(vectors, (batch, self.length, self.width))

    def before(self, features: Mapping[str, Tensor]) -> Mapping[str, Tensor]:
        """Returns features whose documents, positions, segments and orders include the virtual tokens."""
        if not self.length:
            return features
        documents = features[names.DOCUMENT_IDS]
        nothing = ops.zeros((ops.shape(documents)[0], self.length), documents.dtype)
        positions = features.get(names.POSITION_IDS)
        order = features.get(names.ATTENTION_ORDER)
        added = {names.DOCUMENT_IDS: (ops.max(documents, axis=1, keepdims=True) + nothing, documents)}
        if positions is not None:
            added[names.POSITION_IDS] = (self.positions(nothing), positions + self.length)
        if order is not None:
            added[names.ATTENTION_ORDER] = (ops.min(order, axis=1, keepdims=True) - 1 + nothing, order)
        if (segments := features.get(names.SEGMENT_IDS)) is not None:
            added[names.SEGMENT_IDS] = (nothing, segments)
        joined = {
            name: ops.concatenate([ops.cast(first, after.dtype), after], axis=1)
            for name, (first, after) in added.items()
        }
        return {**features, **joined}

    def positions(self, like: Tensor) -> Tensor:
        """Returns the positions of the virtual tokens, int [batch, virtual tokens]."""
        return like + ops.cast(ops.arange(self.length), like.dtype)

    def prepended(self, tokens: Tensor, features: Mapping[str, Tensor]) -> Tensor:
        """Returns embedded tokens with the virtual ones before them, [batch, virtual tokens + length, width].

        Args:
            tokens: Float tensor [batch, length, width].
        """
        if not self.length:
            return tokens
        return ops.concatenate([ops.cast(self.vectors(features), tokens.dtype), tokens], axis=1)

    def without(self, states: Tensor) -> Tensor:
        """Returns the states of the row's own tokens, [batch, length, width].

        Args:
            states: Float tensor [batch, virtual tokens + length, width].
        """
        return states[:, self.length :] if self.length else states
