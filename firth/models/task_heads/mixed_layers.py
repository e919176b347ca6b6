"""The task's own model over the layers of a bidirectional language model, and the heads that read it."""

from collections.abc import Mapping
from typing import Any

import keras
from keras import ops

from firth import features as names
from firth.layers import AttentionPooling, BiLSTM, LinearChainCRF, ScalarMix
from firth.layers.elements.dropout import Dropout
from firth.layers.elements.types import Tensor
from firth.layers.losses import likeliest
from firth.models.heads import Features, Generator, place_of_answers
from firth.models.predictions import Predictions
from firth.models.task_heads.pooled import PooledHeads
from firth.models.task_heads.tokens import TokensHeads


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


@keras.saving.register_keras_serializable(package="firth")
class MixedTextsHeads(PooledHeads):
    """The vectors of a record's texts, which attention pools, compared if they are two, and two dense layers.

    Two texts `u` and `v` are `[u; v; |u - v|; u * v]` (Conneau et al. 2017, "Supervised Learning of Universal
    Sentence Representations from Natural Language Inference Data", section 3.2).

    Its parts are attributes: `encoder`, `pooling`, `hidden`, `dropout` and `dense`.

    Example: see `tests/models/task_heads/mixed_layers_test.py`.
    """

    def _make(self, model: Any, task: Any, seed: Generator) -> None:
        (self.loss_term,) = task.loss_terms
        self._pooled_at = place_of_answers(task)
        shared = {"dtype": self.dtype_policy}
        self.encoder = MixedLayersEncoder(model, task, seed, name="encoder", **shared)
        self._texts, width = task.texts, self.encoder.width
        self._compared = width * (4 if self._texts > 1 else 1)
        # Their inputs are as large as those of fresh layers are, not as the states of a trained backbone.
        self.pooling = AttentionPooling(width, width**-0.5, seed, name="pooling", **shared)
        self.dropout = Dropout(task.dropout, seed=seed, name="dropout", **shared)
        self.hidden = self._make_dense(width, self._compared**-0.5, seed, "hidden", activation="tanh")
        self.dense = self._make_dense(self.loss_term.classes, width**-0.5, seed, bias=task.head_bias)

    def build(self) -> None:
        """Creates all weights; they depend on no input shape."""
        self.encoder.build()
        self.pooling.build((None, None, self.encoder.width))
        self.hidden.build((None, None, self._compared))
        self.dense.build((None, None, self.encoder.width))
        self.built = True

    def logits(self, backbone: Any, features: Features, training: bool | None = None) -> dict[str, Tensor]:
        """Returns the logits of each record's answers, float32 [batch, records, classes].

        Args:
            features: Task's features, batched, with `pooled_positions`, int32 [batch, records], of which only
                the shape is read.
        """
        states, words = self.encoder.states(backbone, features, training)
        records = features[names.POOLED_POSITIONS].shape[1]
        pooled = self.pooling(states, words, documents=records * self._texts)
        record = self.dropout(self._compare(pooled, records), training=training)
        hidden = self.dropout(self.hidden(record), training=training)
        return {self.loss_term.name: ops.cast(self.dense(hidden), "float32")}

    def _compare(self, pooled: Tensor, records: int) -> Tensor:
        """Returns one vector of each record, from those of its texts."""
        if self._texts == 1:
            return pooled
        both = ops.reshape(pooled, (-1, records, 2, self.encoder.width))
        one, other = both[:, :, 0], both[:, :, 1]
        return ops.concatenate([one, other, ops.abs(one - other), one * other], axis=-1)


@keras.saving.register_keras_serializable(package="firth")
class MixedTagsHeads(TokensHeads):
    """A conditional random field over the tags of each sentence (Lample et al. 2016, section 2.2).

    Logits are its scores of single tags. The loss of a word is that of its tag given the tags before it, so
    that those of a sentence sum to its negative log likelihood.

    Its parts are attributes: `encoder`, `dropout`, `dense` and `crf`.

    Example: see `tests/models/task_heads/mixed_layers_test.py`.
    """

    def _make(self, model: Any, task: Any, seed: Generator) -> None:
        (self.loss_term,) = task.loss_terms
        shared = {"dtype": self.dtype_policy}
        self.encoder = MixedLayersEncoder(model, task, seed, name="encoder", **shared)
        self.dropout = Dropout(task.dropout, seed=seed, name="dropout", **shared)
        classes = self.loss_term.classes
        self.dense = self._make_dense(classes, self.encoder.width**-0.5, seed, bias=task.head_bias)
        self.crf = LinearChainCRF(classes, name="crf", **shared)

    def build(self) -> None:
        """Creates all weights; they depend on no input shape."""
        self.encoder.build()
        self.dense.build((None, None, self.encoder.width))
        self.crf.build((None, None, self.loss_term.classes))
        self.built = True

    def logits(self, backbone: Any, features: Features, training: bool | None = None) -> dict[str, Tensor]:
        """Returns the scores of each word's tags alone, float32 [batch, length, tags]."""
        states, _ = self.encoder.states(backbone, features, training)
        hidden = self.dropout(states, training=training)
        return {self.loss_term.name: ops.cast(self.dense(hidden), "float32")}

    def answer_scores(self, logits: Tensor, features: Features) -> Tensor:
        """Returns, for each tag of each word, the score of the best tags of the sentence that have it.

        Args:
            logits: Scores of single tags, float32 [batch, length, tags].
        """
        return self.crf.best_scores(logits, words_of(features))

    def probabilities(self, logits: Tensor, features: Features) -> Tensor:
        """Returns the probability of each tag of each word, over all tags of the others.

        Args:
            logits: Scores of single tags, float32 [batch, length, tags].
        """
        return ops.exp(self.crf(logits, words_of(features)))

    def predictions_of(self, logits: Mapping[str, Tensor], features: Features) -> dict[str, Predictions]:
        """Returns the predictions of the loss, by its name."""
        (name,) = logits
        tags = ops.cast(features[names.LABEL_IDS], "int32")
        losses = self.crf.losses(logits[name], words_of(features), tags)
        hits = ops.equal(likeliest(self.answer_scores(logits[name], features)), tags)
        weights = ops.cast(features[names.LABEL_WEIGHTS], "float32")
        return {name: Predictions(losses, ops.cast(hits, "float32"), weights)}
