"""The task's own model over the layers of a bidirectional language model."""

from typing import Any

import keras
from keras import ops

from firth import features as names
from firth.layers import BiLSTM, ScalarMix
from firth.layers.elements.types import Tensor
from firth.models.heads import Features, Generator


class MixedLayersEncoder(keras.layers.Layer):
    """LSTMs in both directions over mixed layers: words to states, the marks of sentences left out.

    Peters et al. 2018, section 3.3. A frozen backbone has no dropout.

    Its parts are attributes: `input_mix`; `encoder`; `output_mix`, or None. `width` is that of the states.

    Example: see `tests/models/task_heads/mixed_layers_test.py`.
    """

    def __init__(self, model: Any, task: Any, seed: Generator, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        form, shared = task.form, {"seed": seed, "dtype": self.dtype_policy}
        self._mixed_shape = (None, model.layers + 1, None, model.width)
        mixing = (model.layers + 1, form.layer_norm, form.mix_dropout)
        self.input_mix = ScalarMix(*mixing, name="input_mix", **shared)
        self.encoder = BiLSTM(
            form.layers, form.cells, form.cells, None, None, dropout=task.dropout, name="encoder", **shared
        )
        self.output_mix = ScalarMix(*mixing, name="output_mix", **shared) if form.output_mix else None
        self.width = 2 * form.cells + (model.width if form.output_mix else 0)

    def build(self) -> None:
        """Creates all weights; they depend on no input shape."""
        self.input_mix.build(self._mixed_shape)
        self.encoder.build((None, None, self._mixed_shape[-1]))
        if self.output_mix is not None:
            self.output_mix.build(self._mixed_shape)
        self.built = True

    def states(
        self, backbone: Any, features: Features, training: bool | None = None
    ) -> tuple[Tensor, Tensor]:
        """Returns the states of the words, and the text of each.

        Returns:
            Float tensor [batch, length, width], and int32 [batch, length], 0 on padding and marks.
        """
        layers = backbone.layer_outputs(features, training=training if backbone.trainable_weights else False)
        words = words_of(features)
        hidden = self.encoder(self.input_mix(layers, training=training), words, training=training)
        if self.output_mix is not None:
            again = ops.cast(self.output_mix(layers, training=training), hidden.dtype)
            hidden = ops.concatenate([hidden, again], axis=-1)
        return hidden, words


def words_of(features: Features) -> Tensor:
    """Returns the text of each word, int32 [batch, length], 0 on padding and the marks of sentences."""
    document_ids = ops.cast(features[names.DOCUMENT_IDS], "int32")
    outside = ops.zeros_like(document_ids[:, :1])
    before = ops.concatenate([outside, document_ids[:, :-1]], axis=1)
    after = ops.concatenate([document_ids[:, 1:], outside], axis=1)
    inside = ops.logical_and(ops.equal(document_ids, before), ops.equal(document_ids, after))
    return ops.where(inside, document_ids, 0)
