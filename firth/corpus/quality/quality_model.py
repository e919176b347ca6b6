"""The trained classifier of text quality: its weights, its files and its scores."""

import io
from typing import Any, NamedTuple

import numpy as np

from firth.corpus.documents.errors import CorpusError
from firth.corpus.text.hashed_ngrams import Hashing, Vectors
from firth.storage import open_file, read_json, whole_file, write_json

WEIGHTS_FILE = "weights.npz"
MODEL_FILE = "classifier.json"


class QualityModel(NamedTuple):
    """Logistic regression on hashed word n-grams.

    Attributes:
        hashing: Settings for turning texts into counts.
        weights: float32 [buckets].
        bias: Constant term of the regression.
    """

    hashing: Hashing
    weights: np.ndarray
    bias: float

    def scores(self, vectors: Vectors) -> np.ndarray:
        """Returns the probability that each text is like the reference: float64 [texts].

        The score of a text does not depend on the other texts.

        Args:
            vectors: The texts, hashed with the settings of the model.

        Example:

        >>> from firth.corpus.text.hashed_ngrams import hash_ngrams
        >>> hashing = Hashing((1,), 4, 100)
        >>> model = QualityModel(hashing, np.array([2, 2, 2, 2], np.float32), -2.0)
        >>> model.scores(hash_ngrams(["word", ""], hashing)).round(2).tolist()
        [0.5, 0.12]
        """
        parts = self.weights[vectors.buckets].astype(np.float64) * vectors.values
        sums = np.bincount(vectors.rows, parts, len(vectors.splits) - 1) + self.bias
        return 1.0 / (1.0 + np.exp(-np.clip(sums, -500.0, 500.0)))


def save_quality_model(model: QualityModel, description: dict[str, Any], folder: str) -> None:
    """Writes a model to `weights.npz`, two arrays, and `classifier.json`, its settings and description."""
    with whole_file(f"{folder}/{WEIGHTS_FILE}") as file:
        np.savez(file, weights=model.weights, bias=np.float64(model.bias))
    write_json(f"{folder}/{MODEL_FILE}", {"hashing": model.hashing._asdict(), **description})


def load_quality_model(folder: str) -> QualityModel:
    """Returns a saved model. Nothing is unpickled.

    Args:
        folder: Folder to which `save_quality_model` wrote the model.

    Raises:
        CorpusError: if the folder holds no model, or the number of weights is not that of its buckets.
    """
    description = read_json(f"{folder}/{MODEL_FILE}")
    if description is None:
        raise CorpusError(f"{folder} has no {MODEL_FILE}")
    hashing = description["hashing"] | {"ngram_words": tuple(description["hashing"]["ngram_words"])}
    with open_file(f"{folder}/{WEIGHTS_FILE}") as file:
        arrays = np.load(io.BytesIO(file.read()), allow_pickle=False)
    model = QualityModel(Hashing(**hashing), arrays["weights"], float(arrays["bias"]))
    if model.weights.shape != (model.hashing.buckets,):
        shape = model.weights.shape
        raise CorpusError(f"{folder}: weights of shape {shape} for {model.hashing.buckets} buckets")
    return model
