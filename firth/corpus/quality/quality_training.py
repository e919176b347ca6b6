"""Training and measuring of the logistic regression that tells a reference from a crawl."""

import math
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from firth.corpus.documents.errors import CorpusError
from firth.corpus.quality.quality_model import QualityModel
from firth.corpus.text.hashed_ngrams import Hashing, Vectors, join_vectors

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

# The two classes.
SIDES = ("crawl", "reference")
# Number of points of the ROC curve.
ROC_POINTS = 101
MAX_ITERATIONS = 300


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
        warnings.simplefilter("ignore")  # Whether it converged is among the measures.
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
