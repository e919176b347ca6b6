"""The model of good text that a cleaning step trains: its weights, how it is kept, and what it scores."""

import io
from typing import Any, NamedTuple

import numpy as np
from apache_beam.io.filesystems import FileSystems

from firth.corpus.documents.errors import CorpusError
from firth.corpus.io.json_files import read_json, write_json
from firth.corpus.text.hashed_ngrams import Hashing, Vectors

WEIGHTS_FILE = "weights.npz"
MODEL_FILE = "classifier.json"


class QualityModel(NamedTuple):
    """Logistic regression on hashed n-grams.

    Attributes:
        hashing: Of the texts.
        weights: float32 [buckets].
        bias: Added to what the weights make of a text.
    """

    hashing: Hashing
    weights: np.ndarray
    bias: float

    def scores(self, vectors: Vectors) -> np.ndarray:
        """Returns the probability of each text to be of the reference: float64 [texts].

        A text's score does not depend on the others.

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
    """Writes `weights.npz`, two arrays, and `classifier.json`: the description, with `hashing` next to it."""
    data = io.BytesIO()
    np.savez(data, weights=model.weights, bias=np.float64(model.bias))
    with FileSystems.create(f"{folder}/{WEIGHTS_FILE}") as file:
        file.write(data.getvalue())
    write_json(f"{folder}/{MODEL_FILE}", {"hashing": model.hashing._asdict(), **description})


def load_quality_model(folder: str) -> QualityModel:
    """Returns the model that was saved in a folder. Nothing in it is unpickled.

    Raises:
        CorpusError: if the folder holds no model, or not as many weights as it says.
    """
    description = read_json(f"{folder}/{MODEL_FILE}")
    if description is None:
        raise CorpusError(f"{folder} has no {MODEL_FILE}")
    hashing = description["hashing"] | {"ngram_words": tuple(description["hashing"]["ngram_words"])}
    with FileSystems.open(f"{folder}/{WEIGHTS_FILE}") as file:
        arrays = np.load(io.BytesIO(file.read()), allow_pickle=False)
    model = QualityModel(Hashing(**hashing), arrays["weights"], float(arrays["bias"]))
    if model.weights.shape != (model.hashing.buckets,):
        shape = model.weights.shape
        raise CorpusError(f"{folder}: weights of shape {shape} for {model.hashing.buckets} buckets")
    return model
