"""KerasHub on TensorFlow: its backbones in compiled functions, padded batches, Keras's AdamW.

Masked positions are gathered before the vocabulary projection, as its `MaskedLMHead` does.
"""

import platform

import keras
import keras_hub
import tensorflow as tf

from benchmarks.workers import batches
from benchmarks.workers.families import EMBEDDING_WIDTH, KERAS_HUB, Family, Size, llama_inner_width

models = keras_hub.models


def shape(family: Family, size: Size, inner_width: int | None = None) -> dict:
    return {
        "vocabulary_size": family.vocabulary,
        "num_layers": size.layers,
        "hidden_dim": size.width,
        "intermediate_dim": inner_width or 4 * size.width,
        "dropout": family.dropout,
        "dtype": size.precision,
    }


def backbone(make, **more):
    return lambda family, size: make(**shape(family, size), num_heads=size.heads, **more)


def llama(family: Family, size: Size):
    heads = {"num_query_heads": size.heads, "num_key_value_heads": size.heads // 2}
    return models.LlamaBackbone(**shape(family, size, llama_inner_width(size)), **heads)


def t5(inner_factor: int, **more):
    def make(family: Family, size: Size):
        common = shape(family, size, inner_factor * size.width)
        head_width = size.width // size.heads
        return models.T5Backbone(**common, num_heads=size.heads, key_value_dim=head_width, **more)

    return make


MAKERS = {
    "bert": backbone(models.BertBackbone),
    "roberta": backbone(models.RobertaBackbone),
    "albert": backbone(models.AlbertBackbone, embedding_dim=EMBEDDING_WIDTH),
    "deberta_v3": backbone(models.DebertaV3Backbone),
    "gpt2": backbone(models.GPT2Backbone),
    "llama": llama,
    "t5": t5(4, use_gated_activation=False, activation="relu"),
    "t5_1_1": t5(2, use_gated_activation=True, activation="gelu", tie_embedding_weights=False),
    "bart": backbone(models.BartBackbone),
}


class Model:
    """One family; see `benchmarks.workers.work`."""

    def __init__(self, name: str, family: Family, size: Size):
        keras.utils.set_random_seed(0)
        self._family, self._size = family, size
        self._backbone = MAKERS[name](family, size)
        self._head = self._masked_lm_head() if family.task == "masked" else None
        self._optimizer = None
        self._cross_entropy = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        self.versions = {
            "python": platform.python_version(),
            "tensorflow": tf.__version__,
            "keras": keras.__version__,
            KERAS_HUB: keras_hub.__version__,
        }
        self._compiled: dict = {}

    def _masked_lm_head(self):
        head = keras_hub.layers.MaskedLMHead(
            token_embedding=self._backbone.token_embedding,
            intermediate_activation=lambda x: keras.activations.gelu(x, approximate=False),
            dtype=self._size.precision,
        )
        head.build((None, None, self._size.width), (None, None))
        return head

    def prepare(self, features: batches.Features, given: str) -> list[dict[str, tf.Tensor]]:
        """Returns the lot's documents as peers read them."""
        given = batches.peer_batches(features, given, self._size)
        prepared = []
        for batch in given:
            batch["segment_ids"] = batch["token_ids"] * 0
            labels = batch.pop("labels")
            batch |= {f"label_{name}": value for name, value in batches.gathered(labels).items()}
            prepared.append({name: tf.constant(value) for name, value in batch.items()})
        return prepared

    def _inputs(self, batch):
        masks = {"token_ids": batch["token_ids"], "padding_mask": batch["token_ids_mask"]}
        if self._family.has_decoder_beside_encoder:
            encoder = {f"encoder_{name}": value for name, value in masks.items()}
            decoder = {
                "decoder_token_ids": batch["decoder_token_ids"],
                "decoder_padding_mask": batch["decoder_token_ids_mask"],
            }
            return {**encoder, **decoder}
        has_segments = "segment_ids" in self._backbone.input
        return {**masks, **({"segment_ids": batch["segment_ids"]} if has_segments else {})}

    def _hidden(self, batch, training):
        hidden = self._backbone(self._inputs(batch), training=training)
        if not isinstance(hidden, dict):
            return hidden
        names = ("decoder_sequence_output", "sequence_output")
        return next(hidden[name] for name in names if name in hidden)

    def _logits(self, batch):
        hidden = self._hidden(batch, training=True)
        if self._head is not None:
            return self._head(hidden, batch["label_positions"])
        picked = tf.gather(hidden, batch["label_positions"], batch_dims=1)
        return self._backbone.token_embedding(picked, reverse=True)

    def _function(self, work, batch):
        """Compiles once for all lengths."""
        if work not in self._compiled:
            signature = {name: tf.TensorSpec([None, None], value.dtype) for name, value in batch.items()}
            self._compiled[work] = tf.function(getattr(self, f"_{work}"), input_signature=[signature])
        return self._compiled[work]

    def inference(self, batch) -> None:
        """Hidden states of all tokens."""
        self._function("infer", batch)(batch).numpy()

    def training(self, batch) -> None:
        """Forward, backward, clipping and AdamW."""
        if self._optimizer is None:
            self._optimizer = keras.optimizers.AdamW(
                1e-4, weight_decay=0.01, epsilon=1e-6, global_clipnorm=1.0
            )
            self._optimizer.build(self._weights)
        float(self._function("train", batch)(batch))

    @property
    def _weights(self):
        head = self._head.trainable_variables if self._head is not None else []
        weights = {id(weight): weight for weight in [*self._backbone.trainable_variables, *head]}
        return list(weights.values())

    def _infer(self, batch):
        return tf.reduce_sum(tf.cast(self._hidden(batch, training=False), tf.float32))

    def _train(self, batch):
        with tf.GradientTape() as tape:
            loss = self._cross_entropy(batch["label_ids"], self._logits(batch), batch["label_weights"])
        weights = self._weights
        gradients = tape.gradient(loss, [weight.value for weight in weights])
        pairs = [(gradient, weight) for gradient, weight in zip(gradients, weights) if gradient is not None]
        self._optimizer.apply([gradient for gradient, _ in pairs], [weight for _, weight in pairs])
        return loss
