"""The backbone of ELMo."""

from collections.abc import Mapping

import keras
from keras import ops

from firth import features as names
from firth.layers import BiLSTM, CharCNN, Highway
from firth.layers.elements.seeds import normal
from firth.layers.elements.types import Shape, Tensor
from firth.models.backbones.backbone import Backbone, CarriedState, Stages, stages_of
from firth.models.features_model import Specs, token_specs
from firth.recipes.models.bilstm import BiLSTMConfig as BiLSTMConfig


@keras.saving.register_keras_serializable(package="firth")
class BiLSTMBackbone(Backbone):
    """Words from their characters, and a bidirectional language model over them: Features to hidden states.

    Peters et al. 2018, "Deep contextualized word representations", sections 3.1 and 3.4. Any word has a
    vector: there is no table of words. Rows may hold several documents, each of which starts with a state of
    zeros, so that its states do not depend on its row.

    Its arguments are those of `Backbone`, with a `BiLSTMConfig` as `config`. The backbone does not read
    `vocabulary_size`, the number of words that are predicted. With `carry_state` it needs one call of
    `carry`; without `training` states start from zero all the same.

    Example:

    >>> import numpy as np
    >>> shape = {"layers": 2, "cells": 6, "projection_width": 4, "characters": {"filters": [[1, 8]]}}
    >>> backbone = BiLSTMBackbone(10, shape)
    >>> features = {"characters": np.ones((2, 5, 7), "int32"), "document_ids": np.ones((2, 5), "int32")}
    >>> tuple(backbone(features).shape), tuple(backbone.layer_outputs(features).shape)
    ((2, 5, 8), (2, 3, 5, 8))
    """

    token_embedding = None

    config_type = BiLSTMConfig
    # A mask of characters has another shape.
    _places = names.DOCUMENT_IDS

    def _make(self) -> None:
        characters, projected = self.config.characters, self.config.projection_width
        self.char_cnn = CharCNN(
            characters.filters,
            characters.width,
            activation=characters.activation,
            name="char_cnn",
            **self._common,
        )
        self.highways = [
            Highway(self.char_cnn.width, name=f"highway_{index}", **self._common)
            for index in range(characters.highway_layers)
        ]
        self.projection = keras.layers.Dense(
            projected,
            kernel_initializer=normal(self.char_cnn.width**-0.5, self.seed_generator, truncated=False),
            dtype=self.dtype_policy,
            name="projection",
        )
        self.encoder = BiLSTM(
            self.config.layers,
            self.config.cells,
            projected,
            self.config.cell_clip,
            self.config.projection_clip,
            self.config.skip_connections,
            self.config.dropout,
            name="encoder",
            **self._common,
        )
        self.carried_state: CarriedState | None = None
        if self.config.carry_state:
            layers = self.config.layers
            widths = (layers, 2, projected), (layers, 2, self.config.cells)
            self.carried_state = CarriedState(widths, name="carried_state")

    @property
    def stages(self) -> Stages:
        """Words from their characters, then each layer in both directions."""
        return stages_of((self.char_cnn, *self.highways, self.projection), self.encoder)

    def _build_parts(self) -> None:
        self.char_cnn.build((None, None, None))
        for layer in (*self.highways, self.projection):
            layer.build((None, None, self.char_cnn.width))
        self.encoder.build((None, None, self.width // 2))

    def carry(self, rows: int) -> None:
        """Makes the state that `carry_state` hands from batch to batch.

        Args:
            rows: Number of rows of each batch; on several devices, of the share that each one gets.

        Raises:
            ValueError: if the backbone was made without `carry_state`.
        """
        if self.carried_state is None:
            raise ValueError("the backbone carries no state: it was made with carry_state=False")
        self.carried_state.build(rows)

    @property
    def feature_specs(self) -> Specs:
        """Characters, [batch, length, max_characters], and documents, [batch, length]."""
        shape = (None, None, self.config.characters.max_characters)
        characters = keras.layers.InputSpec(shape=shape, dtype="int32")
        return {names.CHARACTERS: characters, **token_specs(names.DOCUMENT_IDS)}

    def call(self, features: Mapping[str, Tensor], training: bool | None = None) -> Tensor:
        """Returns the last layer, both directions: a float tensor [batch, length, 2 projection_width].

        The first half has read a word and those before it, the second half the word and those after it.

        Args:
            features: A dict that holds at least `characters`, int32 [batch, length, max_characters], and
                `document_ids`, int32 [batch, length].
            training: Whether dropout acts, and states are carried.
        """
        words, document_ids = self.words(features), features[names.DOCUMENT_IDS]
        if not training or self.carried_state is None:
            return self.encoder(words, document_ids, training=training)
        document_ids = ops.cast(ops.not_equal(document_ids, 0), "int32")
        state = self.carried_state.read(document_ids.shape[0])
        outputs, state = self.encoder.run(words, document_ids, state, training=training)
        self.carried_state.write(state)
        return outputs[-1]

    def words(self, features: Mapping[str, Tensor]) -> Tensor:
        """Returns each word's own vector: a float tensor [batch, length, projection_width].

        Args:
            features: Features by their names, of which `characters`, int32 [batch, length, max_characters],
                is read.
        """
        hidden = self.char_cnn(features[names.CHARACTERS])
        for highway in self.highways:
            hidden = highway(hidden)
        return self.projection(hidden)

    def layer_outputs(self, features: Mapping[str, Tensor], training: bool | None = None) -> Tensor:
        """Returns all layers, for `firth.layers.ScalarMix`; states start from zero, whatever `carry_state`.

        Args:
            features: Features by their names, as in the call.
            training: Whether dropout acts; for None see `firth.layers.Dropout`.

        Returns:
            A float tensor [batch, layers + 1, length, 2 projection_width], the first of which is the words'
            own vectors, twice side by side.
        """
        return self.layer_outputs_with_state(features, training=training)[0]

    def layer_outputs_with_state(
        self,
        features: Mapping[str, Tensor],
        state: tuple[Tensor, Tensor] | None = None,
        training: bool | None = None,
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Returns all layers, and the states after the last words.

        Args:
            features: Features by their names, as in the call.
            state: State that the first document of each row continues from, as returned; None for zeros.
            training: Whether dropout acts; for None see `firth.layers.Dropout`.

        Returns:
            The tensor that `layer_outputs` returns, and a pair of float32 tensors [batch, layers, 2,
            projection_width] and [batch, layers, 2, cells].
        """
        if not self.built:
            self.build()
        features = self.complete(features)
        words = self.words(features)
        outputs, state = self.encoder.run(words, features[names.DOCUMENT_IDS], state, training=training)
        return ops.stack([ops.concatenate([words, words], axis=-1), *outputs], axis=1), state

    def empty_cache(self, features: Mapping[str, Tensor]) -> tuple[Tensor, Tensor]:
        """Returns the state of the forward direction before the first word of each row.

        Args:
            features: A dict that holds `document_ids`, of which the number of rows is read.

        Returns:
            A pair of float32 zeros [batch, layers, projection_width] and [batch, layers, cells].
        """
        if not self.built:
            self.build()
        return self.encoder.empty_state(ops.shape(features[names.DOCUMENT_IDS])[0])

    def call_with_cache(
        self, features: Mapping[str, Tensor], cache: tuple[Tensor, Tensor], index: Tensor | int
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Reads some words of rows whose words before them have been read, in the forward direction alone.

        Args:
            features: `characters`, int32 [batch, count, max_characters], of the words to read, and their
                `document_ids`, int32 [batch, count], 0 on padding after a row's words.
            cache: State as `empty_cache` or the last call returned it.
            index: Place in the rows where these words begin; not read.

        Returns:
            A float tensor [batch, count, projection_width], the first half of the output of the call for
            these words of the whole rows; and the new state.
        """
        hidden, (outputs, cells) = self.encoder.run_forward(
            self.words(features), features[names.DOCUMENT_IDS], cache
        )
        return hidden, (outputs, cells)

    def compute_output_shape(self, features_shape: dict[str, Shape]) -> Shape:
        """The shape of the words, and `width`.

        Args:
            features_shape: Shapes of the features by their names; that of `document_ids` is (batch, length).
        """
        return (*features_shape[names.DOCUMENT_IDS], self.width)
