"""The worker of KerasHub of `benchmarks.generation`: `generate` on TensorFlow."""

import platform
from typing import Any

import keras
import keras_hub
import numpy as np
import tensorflow as tf

from benchmarks.workers.generation_sizes import GenerationSize


def _sizes(size: GenerationSize, dtype: str) -> dict[str, Any]:
    return {
        "vocabulary_size": size.vocabulary,
        "num_layers": size.layers,
        "num_heads": size.heads,
        "hidden_dim": size.width,
        "intermediate_dim": size.feed_forward,
        "max_sequence_length": size.positions,
        "dtype": dtype,
    }


def _filled(ids: np.ndarray, written: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns ids with room for what is written, and which of them are real."""
    room = ((0, 0), (0, written))
    return np.pad(ids, room), np.pad(np.ones(ids.shape, bool), room)


def _after(ids: np.ndarray, written: int) -> dict[str, np.ndarray]:
    return dict(zip(("token_ids", "padding_mask"), _filled(ids, written)))


def _next_to_encoder(ids: np.ndarray, written: int) -> dict[str, np.ndarray]:
    start = np.full((len(ids), 1), 2, ids.dtype)
    return {
        "encoder_token_ids": ids,
        "encoder_padding_mask": np.ones(ids.shape, bool),
        **{f"decoder_{name}": value for name, value in _after(start, written).items()},
    }


# By the family, of those that KerasHub can write with: its backbone, its model and what that reads.
MODELS = {
    "gpt2": (keras_hub.models.GPT2Backbone, keras_hub.models.GPT2CausalLM, _after),
    "bart": (keras_hub.models.BartBackbone, keras_hub.models.BartSeq2SeqLM, _next_to_encoder),
}


class Model:
    """Writes after prompts; see `benchmarks.workers.generation_work`."""

    def __init__(self, size: GenerationSize, folder: str, dtype: str):
        del folder
        keras.utils.set_random_seed(0)
        backbone, model, self._given = MODELS[size.family]
        self._size = size
        self._model = model(backbone(**_sizes(size, dtype)), preprocessor=None)
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
        ids = np.random.default_rng(0).integers(3, size.vocabulary, (batch, size.prompt), "int32")
        self._model.generate(self._given(ids, size.written), stop_token_ids=None)
        return batch * size.written
