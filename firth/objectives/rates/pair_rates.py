"""Measured rates of segment pairs: the origin of the segments, and leaks of the label."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from firth import features
from firth.objectives.rates.rate_checks import SIGMAS, RateCheck, Sample, by_chance, exactly

# Accuracy that a forest may have above the share of the more frequent label, chance aside.
_LEAK = 0.01
# Characters that end a sentence, where a piece ends with one.
_ENDS = tuple(".!?…。！？।؟")


def pair_checks(sample: Sample, original: npt.NDArray[Any]) -> list[RateCheck]:
    """Checks the pairs of an objective, if it has any.

    Args:
        original: Token ids before any was masked, int32 [rows, length].
    """
    if features.NEXT_SENTENCE_LABELS in sample.made:
        return _next_sentence(sample, original)
    if features.SENTENCE_ORDER_LABELS in sample.made:
        return _sentence_order(sample, original)
    return []


def _next_sentence(sample: Sample, original: npt.NDArray[Any]) -> list[RateCheck]:
    """Random segments come from another document, always; from how many pairs, by chance.

    A pair has no label where the negative row has nothing for it.
    """
    pairs = list(_pairs(sample, original, features.NEXT_SENTENCE_LABELS, features.NEXT_SENTENCE_WEIGHTS))
    found, documents = _lengths(sample, pairs), sum(1 for _ in sample.documents())
    randoms = same = broken = 0
    for row, number, raw, first, second, is_random in pairs:
        own = first if is_random else first + second
        broken += own != raw[: len(own)]
        if is_random:
            randoms += 1
            same += not any(_holds(other, second) for other in _other_documents(sample, row, number))
    rate = sample.config.random_next_rate
    return [
        by_chance("random_next", randoms, [rate] * len(found)),
        exactly("same_document", same, randoms, 0),
        exactly("true_pairs_broken", broken, len(found), 0),
        RateCheck("pairs_without_label", 1.0 - len(found) / max(documents, 1), 0.0, 1.0),
        RateCheck("text_left_out", _left_out(sample, found), 0.0, 1.0),
        _label_leak(sample, pairs, found, _LEAK),
    ]


def _sentence_order(sample: Sample, original: npt.NDArray[Any]) -> list[RateCheck]:
    """Both segments are the document's own; whether they are swapped is left to chance.

    Documents that begin with shorter sentences than they end with give the order away; that is their nature.
    """
    pairs = list(_pairs(sample, original, features.SENTENCE_ORDER_LABELS, features.SENTENCE_ORDER_WEIGHTS))
    found = _lengths(sample, pairs)
    broken = sum(
        (second + first if is_swapped else first + second) != raw
        for _, _, raw, first, second, is_swapped in pairs
    )
    return [
        by_chance("swapped", int(found[:, 3].sum()), [sample.config.swap_rate] * len(found)),
        exactly("pairs_broken", broken, len(found), 0),
        _label_leak(sample, pairs, found, 1.0),
    ]


# Row, number of the document in it, its tokens, both segments, and the label.
_Pair = tuple[int, int, list[int], list[int], list[int], bool]


def _pairs(sample: Sample, original: npt.NDArray[Any], labels: str, weights: str) -> Iterator[_Pair]:
    """Yields the pairs that have a label."""
    is_other, real = sample.made[labels] > 0, sample.made[weights] > 0
    for row, number, raw in sample.documents():
        if real[row, number]:
            first, second = _segments(sample, original, row, number)
            yield row, number, raw.tolist(), first, second, bool(is_other[row, number])


def _lengths(sample: Sample, pairs: list[_Pair]) -> npt.NDArray[np.int64]:
    """Returns int64 [pairs, 5]: tokens of A and of B, padding of the row, label, tokens of the chunk."""
    padding = (sample.made[features.DOCUMENT_IDS] == 0).sum(axis=1)
    found = [
        (len(first), len(second), padding[row], label, len(raw))
        for row, _, raw, first, second, label in pairs
    ]
    return np.array(found, np.int64).reshape(-1, 5)


def _label_leak(sample: Sample, pairs: list[_Pair], found: npt.NDArray[Any], leak: float) -> RateCheck:
    """Checks how well a forest predicts the label from the lengths, or from the length and form of segment B.

    It never has both at once: a short A, which is a short sentence, reveals the style of its document.

    Args:
        found: Their lengths, int64 [pairs, 5].
    """
    first, second, padding, labels, _ = found.T
    documents = np.array([sample.rows[features.DOCUMENT_KEYS][row, number] for row, number, *_ in pairs])
    lengths = np.column_stack([first, second, first + second, padding])
    form = np.column_stack([second, _forms(sample.tokenizer, pairs)])
    accuracy = max(forest_accuracy(each, labels, documents) for each in (lengths, form))
    ones = float(labels.mean()) if len(labels) else 0.0
    most = max(ones, 1.0 - ones) + leak + SIGMAS * 0.5 / math.sqrt(max(len(labels), 1))
    return RateCheck("label_told_by_form", accuracy, 0.0, min(most, 1.0))


def _forms(tokenizer: Any, pairs: list[_Pair]) -> npt.NDArray[np.int64]:
    """Returns the form of each segment B, int64 [pairs, 6]: its number of sentence ends, the tokens up to the
    first and after the last of them, 1 if it ends with one, 1 if it begins with a capital, and its number of
    word parts.
    """
    pieces = [tokenizer.id_to_token(id) for id in range(tokenizer.vocabulary_size())]
    texts = [piece.lstrip("#\u2581\u0120") for piece in pieces]
    ends = np.array([text.endswith(_ENDS) for text in texts])
    capitals = np.array([text[:1].isupper() for text in texts])
    parts = np.array([piece.startswith("##") for piece in pieces])
    made = []
    for *_, second, _ in pairs:
        ids = np.array(second, np.int64)
        places = np.flatnonzero(ends[ids])
        until, after = (places[0], len(ids) - 1 - places[-1]) if len(places) else (len(ids), len(ids))
        begins = len(ids) > 0 and capitals[ids[0]]
        made.append((len(places), until, after, after == 0, begins, parts[ids].sum()))
    return np.array(made, np.int64).reshape(-1, 6)


def _left_out(sample: Sample, found: npt.NDArray[Any]) -> float:
    """Returns the share of the rows' tokens that are cut, or replaced by a random B."""
    first, second, _, labels, raw = found.T
    left = raw - first - np.where(labels > 0, 0, second)
    return float(left.sum() / max(sample.rows[features.CHUNK_LENGTHS].sum(), 1))


def _segments(
    sample: Sample, original: npt.NDArray[Any], row: int, number: int
) -> tuple[list[int], list[int]]:
    """Returns both segments of a document, without `[CLS]` and the `[SEP]` after each."""
    mine = sample.made[features.DOCUMENT_IDS][row] == number + 1
    segments, tokens = sample.made[features.SEGMENT_IDS][row][mine], original[row][mine]
    return tokens[segments == 0][1:-1].tolist(), tokens[segments == 1][:-1].tolist()


def _other_documents(sample: Sample, row: int, number: int) -> list[list[int]]:
    """Returns the documents of the negative row that a random segment may come from."""
    negative = {name: value[row] for name, value in sample.negatives.items()}
    lengths = negative[features.CHUNK_LENGTHS]
    texts = np.split(negative[features.RAW_TOKENS], np.cumsum(lengths))
    own = sample.rows[features.DOCUMENT_KEYS][row, number]
    keys = negative[features.DOCUMENT_KEYS]
    return [text.tolist() for text, key, length in zip(texts, keys, lengths) if length >= 2 and key != own]


def _holds(text: list[int], part: list[int]) -> bool:
    return any(text[start : start + len(part)] == part for start in range(len(text)))


_TREES, _FOLDS = 40, 3
# A leaf of so many pairs, or of such a share of all, so that trees learn no single pairs.
_LEAF, _LEAF_SHARE = 10, 0.01


def forest_accuracy(values: npt.NDArray[Any], labels: npt.NDArray[Any], groups: npt.NDArray[Any]) -> float:
    """Returns the accuracy of a small random forest on pairs whose documents it has not seen.

    Values without information give about the share of the more frequent label.

    Args:
        values: Inputs of the forest for each pair, float [n, values].

    Example: a length above 3 has the label 1.

    >>> lengths = np.arange(200) % 8
    >>> forest_accuracy(lengths[:, np.newaxis], (lengths > 3).astype(int), np.arange(200) // 8)
    1.0
    """
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.model_selection import GroupKFold, KFold, cross_val_predict

    if len(labels) < 2 * _FOLDS:
        return 0.0
    leaf = max(_LEAF, int(_LEAF_SHARE * len(labels)))
    forest = RandomForestClassifier(_TREES, min_samples_leaf=leaf, random_state=0)
    # With fewer documents than folds there are no documents that are unseen.
    folds = GroupKFold(_FOLDS) if len(np.unique(groups)) >= _FOLDS else KFold(_FOLDS)
    return float((cross_val_predict(forest, values, labels, groups=groups, cv=folds) == labels).mean())
