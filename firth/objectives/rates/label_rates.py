"""Measured rates of the objectives that predict one token after another."""

import math

import numpy as np

from firth import features
from firth.objectives.rates.rate_checks import (
    SIGMAS,
    RateCheck,
    Rates,
    Sample,
    between,
    exactly,
    padding_share,
)


def causal_lm_rates(sample: Sample) -> Rates:
    """Measures causal LM: each token predicts the next one of its document, the last one the end."""
    right = predicted = 0
    # Without a special token in front, nothing predicts a document's first token.
    begun = len(sample.config.text_frame.before)
    for row, number, raw in sample.documents():
        labels = _labels(sample, row, number)
        right += labels == [*raw.tolist()[1 - begun :], sample.tokenizer.sep_id]
        predicted += len(labels)
    documents = _count(sample)
    tokens = int(sample.rows[features.CHUNK_LENGTHS].sum())
    return Rates(
        (
            exactly("next_token", right, documents, documents),
            exactly("predicted", predicted, tokens, tokens + begun * documents),
            padding_share(sample),
        )
    )


def prefix_lm_rates(sample: Sample) -> Rates:
    """Measures prefix LM: the end of each document is predicted, its share left to chance."""
    right, shares, spread = 0, [], 0.0
    for row, number, raw in sample.documents():
        labels = _labels(sample, row, number)
        body = labels[:-1] if labels and labels[-1] == sample.tokenizer.sep_id else labels
        right += not body or raw.tolist()[-len(body) :] == body
        if len(raw) > 1 and labels:
            shares.append(len(body) / len(raw))
            spread += 1.0 / len(raw)
    count = max(len(shares), 1)
    # Uniform on whole tokens: the mean is off a half by at most one token, and its variance about 1/12.
    width = SIGMAS * math.sqrt(1 / 12 / count) + spread / count
    documents = _count(sample)
    return Rates(
        (
            exactly("suffix_predicted", right, documents, documents),
            RateCheck("predicted_share", float(np.mean(shares)) if shares else 0.5, 0.5 - width, 0.5 + width),
            padding_share(sample),
        )
    )


def bidirectional_lm_rates(sample: Sample) -> Rates:
    """Measures bidirectional LM: each token predicts its neighbours on both sides."""
    weights = {
        name: sample.made[name] > 0 for name in (features.LABEL_WEIGHTS, features.BACKWARD_LABEL_WEIGHTS)
    }
    tokens, ids = sample.made[features.TOKEN_IDS], sample.made[features.DOCUMENT_IDS]
    checks = []
    for name, labels, label_weights, step in (
        ("next_token", features.LABEL_IDS, features.LABEL_WEIGHTS, -1),
        ("previous_token", features.BACKWARD_LABEL_IDS, features.BACKWARD_LABEL_WEIGHTS, 1),
    ):
        neighbour, same = np.roll(tokens, step, axis=1), np.roll(ids, step, axis=1) == ids
        used = weights[label_weights]
        right = (used & same & (neighbour == sample.made[labels])).sum()
        checks.append(exactly(name, right, used.sum(), used.sum()))
    both = [found.sum() for found in weights.values()]
    unknown = (sample.made[features.LABEL_IDS] == sample.tokenizer.unk_id) & weights[features.LABEL_WEIGHTS]
    return Rates(
        (
            *checks,
            exactly("backward_predicted", both[1], both[0], both[0]),
            between("unknown_words", unknown.sum(), both[0], 0, both[0]),
            padding_share(sample),
        )
    )


def _labels(sample: Sample, row: int, number: int) -> list[int]:
    """Returns the ids that are predicted in a document."""
    documents = features.DECODER_DOCUMENT_IDS
    ids = sample.made.get(documents, sample.made[features.DOCUMENT_IDS])[row]
    used = (ids == number + 1) & (sample.made[features.LABEL_WEIGHTS][row] > 0)
    return sample.made[features.LABEL_IDS][row][used].tolist()


def _count(sample: Sample) -> int:
    return int((sample.rows[features.CHUNK_LENGTHS] > 0).sum())
