"""The heads of the bidirectional language model."""

import keras
from keras import ops

from firth import features as names
from firth.layers import Dropout, chunked_cross_entropy, sampled_cross_entropy
from firth.layers.elements.seeds import truncated_normal
from firth.models.predictions import Predictions


@keras.saving.register_keras_serializable(package="firth")
class BidirectionalLMHeads(keras.layers.Layer):
    """The next word from the forward half of each state, and the previous word from the backward half.

    Both directions share one softmax (Peters et al. 2018, "Deep contextualized word representations",
    section 3.1). Training estimates it from a sample of the vocabulary where the objective has `negatives`;
    evaluation takes all of it, a slice at a time. States are dropped out before the softmax as before each
    layer below.

    Args:
        model: The recipe's `model`, as a dict.
        objective: The recipe's `objective`, as a dict.
        vocabulary_size: Words that can be predicted, in the order of descending frequency.
        seed: A `keras.random.SeedGenerator` to share.

    Example: see `firth.models.build_pretraining_model`.
    """

    def __init__(self, model, objective, vocabulary_size, seed, **kwargs):
        super().__init__(**kwargs)
        self.vocabulary_size = vocabulary_size
        self.width = model["projection_width"]
        negatives = objective.get("negatives")
        self.negatives = None if negatives is None or negatives >= vocabulary_size else negatives
        self.dropout = Dropout(model.get("dropout", 0.0), seed=seed, dtype=self.dtype_policy, name="dropout")
        self._seed_generator = seed
        self._start = truncated_normal(model["initializer_stddev"], seed)

    def build(self):
        """Creates `table` [vocabulary, projection width] and `bias` [vocabulary]."""
        shape = (self.vocabulary_size, self.width)
        self.table = self.add_weight(name="table", shape=shape, initializer=self._start, autocast=False)
        self.bias = self.add_weight(name="bias", shape=shape[:1], initializer="zeros", autocast=False)
        self.built = True

    def predictions(self, backbone, features, training=None) -> dict[str, Predictions]:
        """Returns the predictions of `lm`, [batch, 2 * length]: of the next words, then of the previous."""
        hidden = ops.concatenate(ops.split(backbone(features, training=training), 2, axis=-1), axis=1)
        hidden = ops.reshape(self.dropout(hidden, training=training), (-1, self.width))
        labels = _both(features, names.LABEL_IDS, names.BACKWARD_LABEL_IDS)
        weights = ops.cast(_both(features, names.LABEL_WEIGHTS, names.BACKWARD_LABEL_WEIGHTS), "float32")
        flat, shape = ops.reshape(labels, (-1,)), ops.shape(weights)
        if training and self.negatives is not None:
            made = sampled_cross_entropy(
                hidden, self.table, self.bias, flat, self.negatives, self._seed_generator
            )
        else:
            asked = ops.reshape(weights, (-1,))
            made = chunked_cross_entropy(hidden, self.table, self.bias, flat, asked, bool(training))
        losses, correct = (ops.reshape(each, shape) for each in made)
        return {"lm": Predictions(losses, correct, weights)}


def _both(features, forward, backward):
    return ops.concatenate([features[forward], features[backward]], axis=1)
