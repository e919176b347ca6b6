"""firth on TensorFlow: packed rows, its own training step."""

import importlib.metadata
import platform

import keras
import numpy as np
import tensorflow as tf

from benchmarks.workers import batches
from benchmarks.workers.families import FIRTH, Family, Size
from benchmarks.workers.recipes import make_recipe
from firth import features as names
from firth.models import build_pretraining_model
from firth.training.input_pipeline import noise_keys
from firth.training.optimizers.optimizer_kinds import build_optimizer
from firth.training.step import build_train_step


class Model:
    """One family; see `benchmarks.workers.work`."""

    def __init__(self, name: str, family: Family, size: Size):
        self._recipe, self._batch = make_recipe(name, family, size), size.batch
        self._model = build_pretraining_model(self._recipe)
        self._step = None
        self.versions = {
            "python": platform.python_version(),
            "tensorflow": tf.__version__,
            "keras": keras.__version__,
            FIRTH: importlib.metadata.version("firth"),
        }

    def prepare(self, features: batches.Features, given: str) -> list[dict[str, tf.Tensor]]:
        """Returns the lot in batches of packed rows, with keys as the input pipeline adds them."""
        rows = np.arange(len(features["token_ids"]))
        keys = noise_keys(self._recipe.seed, np.zeros_like(rows), rows)
        parts = batches.slices({**features, names.NOISE_KEYS: keys}, self._batch)
        return [{name: tf.constant(value) for name, value in part.items()} for part in parts]

    def inference(self, batch) -> None:
        """Hidden states of all tokens."""
        self._infer({name: value for name, value in batch.items() if name != names.ATTENTION_ORDER}).numpy()

    def training(self, batch) -> None:
        """Forward, backward, clipping and AdamW."""
        if self._step is None:
            self._step = self._make_step()
        float(self._step(batch).loss)

    @tf.function
    def _infer(self, batch):
        return tf.reduce_sum(tf.cast(self._model.backbone(batch, training=False), tf.float32))

    def _make_step(self):
        training = self._recipe.training
        optimizer = build_optimizer(training.optimizer, training.steps)
        optimizer.build(self._model.trainable_variables)
        return build_train_step(
            self._model,
            optimizer,
            self._recipe.objective.losses,
            tf.distribute.get_strategy(),
            self._recipe.seed,
        )
