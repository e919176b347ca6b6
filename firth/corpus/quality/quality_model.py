"""The trained classifier of text quality: its weights, its files and its scores."""

import io
import math
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from firth.corpus.documents.errors import CorpusError
from firth.corpus.text.shingles import shingle_hashes, word_hashes
from firth.segmentation.words import split_words
from firth.storage import open_file, read_json, whole_file, write_json

WEIGHTS_FILE = "weights.npz"
MODEL_FILE = "classifier.json"
# The two classes.
SIDES = ("crawl", "reference")
# Number of points of the ROC curve.
ROC_POINTS = 101
MAX_ITERATIONS = 300


class Hashing(NamedTuple):
    """Settings for turning texts into counts.

    Attributes:
        ngram_words: Lengths of the n-grams, in words.
        buckets: Number of buckets into which n-grams are hashed.
        max_characters: Number of characters that are read of each text, from its beginning.
    """

    ngram_words: tuple[int, ...]
    buckets: int
    max_characters: int


class Vectors(NamedTuple):
    """One sparse vector for each text, of Euclidean length 1, or 0 for a text without n-grams.

    Attributes:
        splits: int64 [texts + 1]; the entries of text i are those from `splits[i]` to `splits[i + 1]`.
        buckets: uint32 [entries], ascending within each text, each bucket once.
        values: float32 [entries].
    """

    splits: np.ndarray
    buckets: np.ndarray
    values: np.ndarray

    @property
    def rows(self) -> np.ndarray:
        """The index of the text to which each entry belongs: int64 [entries]."""
        return np.repeat(np.arange(len(self.splits) - 1), np.diff(self.splits))


def hash_ngrams(texts: Sequence[str], hashing: Hashing) -> Vectors:
    """Returns the texts as vectors of the counts in each bucket, divided by the vector's Euclidean length.

    Words are those of Spark's standard tokenizer, on which GPT-3's quality classifier was trained (Brown et
    al. 2020, arXiv:2005.14165, appendix A): in lower case, separated by white space, with their punctuation.
    In scripts without spaces they are those of `split_words`.

    Example:

    >>> vectors = hash_ngrams(["a b a", "", "b"], Hashing((1,), 2**18, 100))
    >>> vectors.splits.tolist(), sorted(round(value, 2) for value in vectors.values.tolist())
    ([0, 2, 2, 3], [0.45, 0.89, 1.0])
    """
    words, splits = word_hashes([split_words(text[: hashing.max_characters].lower()) for text in texts])
    keys = np.concatenate([_keys(words, splits, size, hashing.buckets) for size in hashing.ngram_words])
    keys, counts = np.unique(keys, return_counts=True)
    rows, buckets = keys // hashing.buckets, keys % hashing.buckets
    squares = np.bincount(rows, np.square(counts, dtype=np.float64), len(texts))
    values = (counts / np.sqrt(squares)[rows]).astype(np.float32)
    return Vectors(np.searchsorted(rows, np.arange(len(texts) + 1)), buckets.astype(np.uint32), values)


def _keys(words: np.ndarray, splits: np.ndarray, size: int, buckets: int) -> np.ndarray:
    """Returns int64 [n-grams]: text and bucket as one number."""
    hashes, runs = shingle_hashes(words, splits, size)
    texts = np.repeat(np.arange(len(runs) - 1), np.diff(runs))
    return texts * buckets + (hashes % np.uint64(buckets)).astype(np.int64)


def join_vectors(parts: Sequence[Vectors]) -> Vectors:
    """Returns the vectors of all parts in one, in the order of the parts."""
    ends = np.cumsum([0, *(each.splits[-1] for each in parts)])
    splits = [each.splits[1:] + end for each, end in zip(parts, ends)]
    return Vectors(
        np.concatenate([np.zeros(1, np.int64), *splits]),
        np.concatenate([np.zeros(0, np.uint32), *(each.buckets for each in parts)]),
        np.concatenate([np.zeros(0, np.float32), *(each.values for each in parts)]),
    )


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

        >>> from firth.corpus.quality.quality_model import hash_ngrams
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


if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


class Examples(NamedTuple):
    """Labelled documents for training and measuring.

    Attributes:
        hashes: uint64 [documents], hashes of the documents' ids, by which they are ordered and held out.
        sides: int8 [documents], the class of each as an index of `SIDES`.
        vectors: The texts as hashed n-grams.
    """

    hashes: np.ndarray
    sides: np.ndarray
    vectors: Vectors


def join_examples(parts: Sequence[Examples]) -> Examples:
    """Returns the examples of all parts in one."""
    return Examples(
        np.concatenate([np.zeros(0, np.uint64), *(each.hashes for each in parts)]),
        np.concatenate([np.zeros(0, np.int8), *(each.sides for each in parts)]),
        join_vectors([each.vectors for each in parts]),
    )


def train(
    examples: Examples, hashing: Hashing, l2_penalty: float, held_out_fraction: float
) -> tuple[QualityModel, dict[str, Any]]:
    """Trains a model on some of the examples and measures it on the others.

    The result does not depend on the order of the examples, and examples with the same hash count once. Both
    classes have the same total weight, whatever their numbers. The computation runs on one thread, so that
    the weights are the same on any machine.
    """
    order = np.lexsort([examples.hashes, examples.sides])
    keys = np.stack([examples.sides[order].astype(np.uint64), examples.hashes[order]])
    order = order[np.append(True, (keys[:, 1:] != keys[:, :-1]).any(0))] if len(order) else order
    sides, held_out = examples.sides[order], []
    for side, name in enumerate(SIDES):
        members = np.flatnonzero(sides == side)
        if len(members) < 2:
            raise CorpusError(
                f"{len(members)} documents of the {name} to learn from; at least two are needed"
            )
        held_out.append(members[: min(len(members) - 1, math.ceil(len(members) * held_out_fraction))])
    is_held_out = np.zeros(len(order), bool)
    is_held_out[np.concatenate(held_out)] = True
    matrix = _matrix(examples.vectors, hashing.buckets)[order]
    model, fit = _fit(matrix[~is_held_out], sides[~is_held_out], hashing, l2_penalty)
    rows = matrix[is_held_out]
    scores = model.scores(Vectors(rows.indptr, rows.indices.astype(np.uint32), rows.data))
    sizes = {"trained": _sizes(sides[~is_held_out]), "held_out": _sizes(sides[is_held_out])}
    return model, {**sizes, **_measures(sides[is_held_out], scores), **fit}


def _sizes(sides: np.ndarray) -> dict[str, int]:
    return {name: int((sides == side).sum()) for side, name in enumerate(SIDES)}


def _matrix(vectors: Vectors, buckets: int) -> "csr_matrix":
    from scipy.sparse import csr_matrix

    parts = vectors.values.astype(np.float64), vectors.buckets.astype(np.int64), vectors.splits
    return csr_matrix(parts, shape=(len(vectors.splits) - 1, buckets))


def _fit(
    matrix: "csr_matrix", sides: np.ndarray, hashing: Hashing, l2_penalty: float
) -> tuple[QualityModel, dict[str, Any]]:
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits

    # Buckets that no n-gram falls into have the weight 0, and are left out of the training to save memory.
    used = np.unique(matrix.indices)
    regression = LogisticRegression(C=1.0 / l2_penalty, class_weight="balanced", max_iter=MAX_ITERATIONS)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # The measures report convergence.
        regression.fit(matrix[:, used], sides)
    weights = np.zeros(hashing.buckets, np.float32)
    weights[used] = regression.coef_[0]
    iterations = int(regression.n_iter_[0])
    fit = {"iterations": iterations, "converged": iterations < MAX_ITERATIONS}
    return QualityModel(hashing, weights, float(regression.intercept_[0])), fit


def _measures(sides: np.ndarray, scores: np.ndarray) -> dict[str, Any]:
    from sklearn.metrics import roc_auc_score

    points = np.linspace(0.0, 1.0, ROC_POINTS)
    roc: dict[str, list[float]] = {"score": points.round(6).tolist()}
    for side, name in enumerate(SIDES):
        ordered = np.sort(scores[sides == side])
        roc[name] = (len(ordered) - np.searchsorted(ordered, points)).tolist()
    return {"auc": float(roc_auc_score(sides, scores)), "roc": roc}
