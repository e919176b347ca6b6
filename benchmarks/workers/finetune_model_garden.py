"""The worker of Model Garden of `benchmarks.finetune`: batches sorted by length, with XLA and without."""

from benchmarks.workers.model_garden import Batch, Steps, bert_encoder, encoder_inputs, mean_loss

# isort: split

import itertools

import tensorflow as tf
import tf_keras
from official.nlp.modeling import models

from benchmarks.workers.finetune_batches import IGNORED, read_examples, sorted_batches
from benchmarks.workers.finetune_sizes import VOCABULARY, FineTuneSize

# With XLA each length is compiled for minutes, so batches are padded to one of a few.
LENGTHS = (16, 32, 64, 128, 384)


class Model:
    """Steps on the records of a folder; see `benchmarks.workers.finetune_work`."""

    def __init__(self, size: FineTuneSize, folder: str, jit_compile: bool = False):
        tf_keras.utils.set_random_seed(0)
        tf_keras.mixed_precision.set_global_policy(size.precision)
        given = read_examples(folder)
        self._head = str(given["head"])
        encoder = bert_encoder(VOCABULARY, size.layers, size.width, size.heads)
        classes = int(given["classes"])
        self._model = {
            "pooled": lambda: models.BertClassifier(encoder, classes),
            "tokens": lambda: models.BertTokenClassifier(encoder, classes),
            "spans": lambda: models.BertSpanLabeler(encoder),
        }[self._head]()
        self._steps = Steps(self._model, 5e-5, jit_compile)
        made = sorted_batches(given, size.examples, LENGTHS if jit_compile else ())
        self._given = [_tensors(batch) for batch in made]
        self._batches = itertools.cycle(zip(self._given, [int(batch["real"].sum()) for batch in made]))
        self._ready = False
        self.losses: list[float] = []
        self.versions = self._steps.versions

    def steps(self, count: int) -> dict[str, int]:
        """Forward, backward, clipping and AdamW."""
        if not self._ready:
            self._steps.run_all("training", self._train, self._given)
            self._ready = True
        examples = tokens = 0
        for batch, real in itertools.islice(self._batches, count):
            self.losses.append(self._steps.run("training", self._train, batch))
            examples += len(batch["token_ids"])
            tokens += real
        return {"examples": examples, "tokens": tokens}

    def _train(self, batch):
        return self._steps.train(self._loss, batch)

    def _loss(self, batch):
        found, labels, weights = (
            self._model(encoder_inputs(batch), training=True),
            batch["labels"],
            batch["weights"],
        )
        if self._head == "spans":
            sides = [
                mean_loss(labels[:, side], logits, weights[:, side]) for side, logits in enumerate(found)
            ]
            return sum(sides) / 2
        return mean_loss(labels, found["logits"] if self._head == "tokens" else found, weights)


def _tensors(batch) -> Batch:
    labelled = batch["labels"] != IGNORED
    arrays = {
        "token_ids": batch["ids"].astype("int32"),
        "token_ids_mask": batch["real"].astype("int32"),
        "segment_ids": batch["segments"].astype("int32"),
        "labels": (batch["labels"] * labelled).astype("int32"),
        "weights": labelled.astype("float32"),
    }
    return {name: tf.constant(value) for name, value in arrays.items()}
