"""The worker of KerasHub of `benchmarks.generation`: `GPT2CausalLM.generate` on TensorFlow."""

import platform

import keras
import keras_hub
import numpy as np
import tensorflow as tf

from benchmarks.workers.generation_sizes import GenerationSize


class Model:
    """Writes after prompts; see `benchmarks.workers.generation_work`."""

    def __init__(self, size: GenerationSize, folder: str, dtype: str):
        del folder
        keras.utils.set_random_seed(0)
        backbone = keras_hub.models.GPT2Backbone(
            vocabulary_size=size.vocabulary,
            num_layers=size.layers,
            num_heads=size.heads,
            hidden_dim=size.width,
            intermediate_dim=4 * size.width,
            max_sequence_length=size.positions,
            dtype=dtype,
        )
        self._size = size
        self._model = keras_hub.models.GPT2CausalLM(backbone, preprocessor=None)
        self._model.compile(sampler="greedy")
        self.versions = {
            "python": platform.python_version(),
            "tensorflow": tf.__version__,
            "keras": keras.__version__,
            "keras_hub": keras_hub.__version__,
        }

    def write(self, batch: int) -> int:
        """Returns how many tokens it has written."""
        size = self._size
        ids = np.zeros((batch, size.prompt + size.written), "int32")
        ids[:, : size.prompt] = np.random.default_rng(0).integers(1, size.vocabulary, (batch, size.prompt))
        real = np.zeros(ids.shape, bool)
        real[:, : size.prompt] = True
        self._model.generate({"token_ids": ids, "padding_mask": real}, stop_token_ids=None)
        return batch * size.written
