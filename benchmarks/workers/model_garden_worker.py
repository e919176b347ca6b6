"""Model Garden on TensorFlow: `BertPretrainerV2` and `T5Transformer`, its own AdamW, with XLA and without.

Documents are padded as for the other peers. BERT projects masked positions alone to the vocabulary. T5 looks
embeddings up by id: its default, a product with one-hot vectors, is made for other devices.
"""

from benchmarks.workers.model_garden import (
    Batch,
    Steps,
    bert_encoder,
    encoder_inputs,
    mean_loss,
)

# isort: split

import tensorflow as tf
import tf_keras
from official.modeling import tf_utils
from official.nlp.modeling import models
from official.nlp.modeling.models import t5

from benchmarks.workers import batches
from benchmarks.workers.families import Family, Size


def _bert(family: Family, size: Size):
    encoder = bert_encoder(family.vocabulary, size.layers, size.width, size.heads, family.dropout)
    return models.BertPretrainerV2(encoder, mlm_activation=tf_utils.get_activation("gelu"))


def _t5(inner_factor: int, tied: bool, *activations: str):
    def make(family: Family, size: Size):
        parameters = t5.T5TransformerParams(
            num_layers=size.layers,
            d_model=size.width,
            d_kv=size.width // size.heads,
            num_heads=size.heads,
            d_ff=inner_factor * size.width,
            vocab_size=family.vocabulary,
            dropout_rate=family.dropout,
            shared_embedding=True,
            ffn_activations=activations,
            logits_via_embedding=tied,
            one_hot_embedding=False,
        )
        computed = tf.float32 if size.precision == "float32" else tf.bfloat16
        return t5.T5Transformer(parameters, compute_dtype=computed)

    return make


MAKERS = {
    "bert": _bert,
    "t5": _t5(4, True, "relu"),
    "t5_1_1": _t5(2, False, "gelu", "linear"),
}


class Model:
    """One family; see `benchmarks.workers.work`."""

    def __init__(self, name: str, family: Family, size: Size, jit_compile: bool = False):
        tf_keras.utils.set_random_seed(0)
        tf_keras.mixed_precision.set_global_policy(size.precision)
        self._family, self._size = family, size
        self._model = MAKERS[name](family, size)
        self._steps = Steps(self._model, 1e-4, jit_compile)
        self._prepared: dict[str, list[Batch]] = {}
        self._ready: set[tuple[str, str]] = set()
        self.versions = self._steps.versions

    def prepare(self, features: batches.Features, given: str) -> list[tuple[str, Batch]]:
        """Returns the lot's documents as peers read them, each batch with the name of its input."""
        prepared = []
        for batch in batches.peer_batches(features, given, self._size):
            batch["segment_ids"] = batch["token_ids"] * 0
            labels = batch.pop("labels")
            if self._family.task == "masked":
                batch |= {f"label_{name}": value for name, value in batches.gathered(labels).items()}
            else:
                predicted = labels != batches.IGNORED
                batch |= {"label_ids": labels * predicted, "label_weights": predicted.astype("float32")}
            prepared.append({name: tf.constant(value) for name, value in batch.items()})
        self._prepared.setdefault(given, []).extend(prepared)
        return [(given, batch) for batch in prepared]

    def inference(self, batch: tuple[str, Batch]) -> None:
        """Hidden states of all tokens."""
        self._run("inference", self._infer, *batch)

    def training(self, batch: tuple[str, Batch]) -> float:
        """Forward, backward, clipping and AdamW; returns the loss."""
        return self._run("training", self._train, *batch)

    def _run(self, work, function, given, batch):
        if (work, given) not in self._ready:
            self._steps.run_all(work, function, self._prepared[given])
            self._ready.add((work, given))
        return self._steps.run(work, function, batch)

    def _transformed(self, batch, training):
        """Returns the outputs of T5; without labels, its masks follow from what the decoder reads."""
        return self._model(
            encoder_input_tokens=batch["token_ids"],
            decoder_input_tokens=batch["decoder_token_ids"],
            decoder_target_tokens=batch["decoder_token_ids"],
            training=training,
        )

    def _infer(self, batch):
        if self._family.has_decoder_beside_encoder:
            # What is not read of a graph, here the logits, is not computed.
            hidden = self._transformed(batch, training=False)["raw_logits"]
        else:
            hidden = self._model(encoder_inputs(batch), training=False)["sequence_output"]
        return tf.reduce_sum(tf.cast(hidden, tf.float32))

    def _loss(self, batch):
        if self._family.has_decoder_beside_encoder:
            logits = self._transformed(batch, training=True)["logits"]
        else:
            inputs = {**encoder_inputs(batch), "masked_lm_positions": batch["label_positions"]}
            logits = self._model(inputs, training=True)["mlm_logits"]
        return mean_loss(batch["label_ids"], logits, batch["label_weights"])

    def _train(self, batch):
        return self._steps.train(self._loss, batch)
