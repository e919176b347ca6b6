"""The backbone of ELMo."""

import keras
from keras import ops

from firth import features as names
from firth.layers import BiLSTM, CharCNN, Highway
from firth.layers.elements.parts import check_part
from firth.layers.elements.seeds import plain_seed, seed_generator
from firth.models.carried_state import CarriedState
from firth.recipes.models.model import CharacterCNNConfig


@keras.saving.register_keras_serializable(package="firth")
class BiLSTMBackbone(keras.Model):
    """Words from their characters, and a bidirectional language model over them: Features to hidden states.

    Peters et al. 2018, "Deep contextualized word representations", sections 3.1 and 3.4. Any word has a
    vector: there is no table of words. Rows may hold several documents, each of which starts with a state of
    zeros, so that it gives what it gives alone.

    Args:
        vocabulary_size: Of the words that are predicted; the backbone itself has no use for it.
        layers: Of each direction.
        cells: Of an LSTM.
        projection_width: Of its output, and of a word's vector.
        characters: A dict: `filters`, and if wanted `width`, `max_characters`, `highway_layers` and
            `activation`; see `firth.recipes.models.model.CharacterCNNConfig`.
        cell_clip, projection_clip: Bounds of cell states and of projected outputs; None for none.
        skip_connections: Add a layer's input to its output, from the second layer on.
        carry_state: In training, a batch goes on from the states that the batch before ended with, and no
            document starts anew, as in the reference code. It needs one call of `carry`. Without `training`
            states start from zero all the same.
        dropout: Of the input of each layer.
        initializer_stddev: Of the softmax weights; the backbone's own start as in the reference code.
        seed: An int, None, or a `keras.random.SeedGenerator` to share; see `firth.layers.elements.seeds`.
        dtype: A Keras dtype or policy.

    Call arguments:
        features: A dict that holds at least `characters`, int32 [batch, length, max_characters], and
            `document_ids`, int32 [batch, length].
        training: Whether dropout acts, and states are carried.

    Raises:
        ValueError: as the layers do, naming the argument and the received value.

    Example:

    >>> import numpy as np
    >>> backbone = BiLSTMBackbone(10, layers=2, cells=6, projection_width=4, characters={"filters": [(1, 8)]})
    >>> features = {"characters": np.ones((2, 5, 7), "int32"), "document_ids": np.ones((2, 5), "int32")}
    >>> tuple(backbone(features).shape), tuple(backbone.layer_outputs(features).shape)
    ((2, 5, 8), (2, 3, 5, 8))
    """

    token_embedding = None

    def __init__(
        self,
        vocabulary_size,
        layers,
        cells,
        projection_width,
        characters,
        cell_clip=3.0,
        projection_clip=3.0,
        skip_connections=True,
        carry_state=False,
        dropout=0.1,
        initializer_stddev=0.02,
        seed=None,
        dtype=None,
        **kwargs,
    ):
        super().__init__(dtype=dtype, **kwargs)
        check_part("BiLSTMBackbone", "characters", characters, CharacterCNNConfig)
        self._config = {
            "vocabulary_size": vocabulary_size,
            "characters": {**characters, "filters": [list(pair) for pair in characters["filters"]]},
            "carry_state": carry_state,
            "initializer_stddev": initializer_stddev,
            "seed": plain_seed(seed),
        }
        self.seed_generator = seed_generator(seed)
        common = {"seed": self.seed_generator, "dtype": self.dtype_policy}
        self.width = 2 * projection_width
        self.char_cnn = CharCNN(
            characters["filters"],
            characters.get("width", 16),
            activation=characters.get("activation", "relu"),
            name="char_cnn",
            **common,
        )
        self.highways = [
            Highway(self.char_cnn.width, name=f"highway_{index}", **common)
            for index in range(characters.get("highway_layers", 2))
        ]
        self.projection = keras.layers.Dense(
            projection_width,
            kernel_initializer=keras.initializers.RandomNormal(
                stddev=self.char_cnn.width**-0.5, seed=self.seed_generator
            ),
            dtype=self.dtype_policy,
            name="projection",
        )
        self.encoder = BiLSTM(
            layers,
            cells,
            projection_width,
            cell_clip,
            projection_clip,
            skip_connections,
            dropout,
            name="encoder",
            **common,
        )
        widths = (layers, 2, projection_width), (layers, 2, cells)
        self.carried_state = CarriedState(widths, name="carried_state") if carry_state else None

    def build(self, features_shape=None):
        """Creates all weights; they depend on no input shape."""
        self.char_cnn.build((None, None, None))
        for layer in (*self.highways, self.projection):
            layer.build((None, None, self.char_cnn.width))
        self.encoder.build((None, None, self.width // 2))

    def carry(self, rows: int) -> None:
        """Makes the state that `carry_state` hands from batch to batch.

        Args:
            rows: Of each batch; on several devices, of the share that each one gets.

        Raises:
            ValueError: if the backbone was made without `carry_state`.
        """
        if self.carried_state is None:
            raise ValueError("the backbone carries no state: it was made with carry_state=False")
        self.carried_state.build(rows)

    def call(self, features, training=None):
        """Returns the last layer, both directions: a float tensor [batch, length, 2 projection_width].

        The first half has read a word and those before it, the second half the word and those after it.
        """
        words, document_ids = self.words(features), features[names.DOCUMENT_IDS]
        if not training or self.carried_state is None:
            return self.encoder(words, document_ids, training=training)
        document_ids = ops.cast(ops.not_equal(document_ids, 0), "int32")
        state = self.carried_state.read(document_ids.shape[0])
        outputs, state = self.encoder.run(words, document_ids, state, training=training)
        self.carried_state.write(state)
        return outputs[-1]

    def words(self, features):
        """Returns each word's own vector: a float tensor [batch, length, projection_width]."""
        hidden = self.char_cnn(features[names.CHARACTERS])
        for highway in self.highways:
            hidden = highway(hidden)
        return self.projection(hidden)

    def layer_outputs(self, features, training=None):
        """Returns all layers, for `firth.layers.ScalarMix`; states start from zero, whatever `carry_state`.

        Args:
            features, training: As in the call.

        Returns:
            A float tensor [batch, layers + 1, length, 2 projection_width], the first of which is the words'
            own vectors, twice side by side.
        """
        return self.layer_outputs_with_state(features, training=training)[0]

    def layer_outputs_with_state(self, features, state=None, training=None):
        """Returns all layers, and the states after the last words.

        Args:
            features, training: As in the call.
            state: What the first document of each row goes on from, as it is returned; None for zeros.

        Returns:
            What `layer_outputs` returns, and a pair of float32 tensors [batch, layers, 2, projection_width]
            and [batch, layers, 2, cells].
        """
        words = self.words(features)
        outputs, state = self.encoder.run(words, features[names.DOCUMENT_IDS], state, training=training)
        return ops.stack([ops.concatenate([words, words], axis=-1), *outputs], axis=1), state

    def compute_output_shape(self, features_shape):
        """The shape of the words, and `width`."""
        return (*features_shape[names.DOCUMENT_IDS], self.width)

    def get_config(self):
        """The constructor's arguments."""
        return {**self.encoder.get_config(), **keras.layers.Layer.get_config(self), **self._config}
