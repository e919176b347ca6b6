"""The backbone of T5 and BART."""

import keras
from keras import ops

from firth import features as names
from firth.layers import CausalTransformer, MaskedTransformer
from firth.models.backbone import Backbone


@keras.saving.register_keras_serializable(package="firth")
class EncoderDecoderBackbone(Backbone):
    """A bidirectional encoder, and a causal decoder that attends to it: Features to the decoder's states.

    Raffel et al. 2019, "Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer",
    section 2.1. Rows may hold several documents on each side: a decoder's token attends to the document of
    the encoder that has its id, and to no other.

    Its parts are attributes, and begin the paths of their weights: `token_embedding`, which both stacks read;
    for each stack an `InputEmbedding`, `encoder_embeddings` and `decoder_embeddings`, and a dense layer
    after a factorised token table, `encoder_projection` and `decoder_projection`, otherwise None; `encoder`
    and `decoder`. With `share_encoder_decoder` both sides are one, under the decoder's names.

    Args:
        vocabulary_size, layers, width, attention, feed_forward, norm, positions, biases, share_layers,
            dropout, output_dropout, initializer_stddev, scaled_initializer, seed, dtype: As in
            `MaskedTransformerBackbone`; `layers` are the
            encoder's.
        embeddings: A dict: `width` of the token table and `norm`; no norm where it is None.
        decoder_layers: Blocks of the decoder; as many as the encoder's where it is None.
        share_encoder_decoder: Both use the same weights, but for the decoder's attention to the encoder
            (section 3.2.2, "shared"). Relative buckets tell both directions apart then, in the decoder too.
        tied_output: For the head: whether the vocabulary projection is the token table.
        scaled_output: For the head: whether states are multiplied by `width ** -0.5` before it.

    Call arguments:
        features: A dict that holds `token_ids`, `position_ids` and `document_ids`, each int32 [batch,
            length], and `decoder_token_ids`, `decoder_position_ids` and `decoder_document_ids`, each int32
            [batch, target length]; see `firth.features.decoder_specs`.
        training: Whether dropout acts.

    Raises:
        ValueError: as the layers do, naming the argument and the received value; or if
            `share_encoder_decoder` meets stacks of different depths.

    Example:

    >>> import numpy as np
    >>> backbone = EncoderDecoderBackbone(10, layers=1, width=8, attention={"heads": 2})
    >>> ones = np.ones((2, 5), "int32")
    >>> features = {"token_ids": ones, "position_ids": ones, "document_ids": ones}
    >>> features |= {f"decoder_{name}": value[:, :3] for name, value in features.items()}
    >>> tuple(backbone(features).shape)
    (2, 3, 8)
    """

    def __init__(
        self,
        vocabulary_size,
        layers,
        width,
        attention,
        feed_forward=None,
        norm=None,
        positions=None,
        embeddings=None,
        biases=True,
        share_layers=None,
        dropout=0.1,
        output_dropout=0.0,
        initializer_stddev=0.02,
        scaled_initializer=False,
        decoder_layers=None,
        share_encoder_decoder=False,
        tied_output=True,
        scaled_output=False,
        seed=None,
        dtype=None,
        **kwargs,
    ):
        config = {
            "vocabulary_size": vocabulary_size,
            "layers": layers,
            "width": width,
            "attention": attention,
            "feed_forward": feed_forward,
            "norm": norm,
            "positions": positions,
            "embeddings": embeddings,
            "biases": biases,
            "share_layers": share_layers,
            "dropout": dropout,
            "output_dropout": output_dropout,
            "initializer_stddev": initializer_stddev,
            "scaled_initializer": scaled_initializer,
            "decoder_layers": decoder_layers,
            "share_encoder_decoder": share_encoder_decoder,
            "tied_output": tied_output,
            "scaled_output": scaled_output,
        }
        super().__init__(config, seed, dtype, **kwargs)
        self.is_shared = share_encoder_decoder
        depth = layers if decoder_layers is None else decoder_layers
        if self.is_shared and depth != layers:
            raise ValueError(
                "EncoderDecoderBackbone: `share_encoder_decoder` needs as many `decoder_layers` as `layers`. "
                f"Received: decoder_layers={depth}, layers={layers}"
            )
        self.decoder_embeddings = self._make_embeddings("decoder_embeddings")
        self.decoder_projection = self._make_projection("decoder_projection")
        self.decoder = CausalTransformer(
            **self._stack(layers=depth),
            cross_attention=True,
            bidirectional_prefix=self.is_shared,
            name="decoder",
        )
        if self.is_shared:
            self.encoder_embeddings, self.encoder_projection = (
                self.decoder_embeddings,
                self.decoder_projection,
            )
            self.encoder = self.decoder
        else:
            self.encoder_embeddings = self._make_embeddings("encoder_embeddings")
            self.encoder_projection = self._make_projection("encoder_projection")
            self.encoder = MaskedTransformer(**self._stack(), name="encoder")

    def build(self, features_shape=None):
        """Creates all weights; they depend on no input shape."""
        self._build_parts(self.encoder_embeddings, self.encoder_projection, self.encoder)
        self._build_parts(self.decoder_embeddings, self.decoder_projection, self.decoder)

    def encode(self, features, training=None):
        """Returns the encoder's states, a float tensor [batch, length, width] of the compute dtype."""
        positions, documents = features[names.POSITION_IDS], features[names.DOCUMENT_IDS]
        tokens = self.token_embedding(features[names.TOKEN_IDS])
        embedded = self.encoder_embeddings(tokens, positions, training=training)
        # A decoder in the encoder's place: where all stand at the same place in the order, each sees all.
        order = {"attention_order": ops.zeros_like(documents)} if self.is_shared else {}
        hidden = self._project(embedded, self.encoder_projection)
        return self.encoder(hidden, documents, position_ids=positions, **order, training=training)

    def decode(self, features, encoded, training=None):
        """Returns the decoder's states, a float tensor [batch, target length, width] of the compute dtype.

        Args:
            features: As of a call; of the encoder's, `document_ids` only.
            encoded: What `encode` returned.
            training: Whether dropout acts.
        """
        positions = features[names.DECODER_POSITION_IDS]
        tokens = self.token_embedding(features[names.DECODER_TOKEN_IDS])
        embedded = self.decoder_embeddings(tokens, positions, training=training)
        return self.decoder(
            self._project(embedded, self.decoder_projection),
            features[names.DECODER_DOCUMENT_IDS],
            position_ids=positions,
            context=encoded,
            context_document_ids=features[names.DOCUMENT_IDS],
            training=training,
        )

    def call(self, features, training=None):
        """Returns the decoder's states, a float tensor [batch, target length, width]."""
        return self.decode(features, self.encode(features, training), training)

    def compute_output_shape(self, features_shape):
        """The shape of the decoder's ids, and `width`."""
        return (*features_shape[names.DECODER_TOKEN_IDS], self.width)
