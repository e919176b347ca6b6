"""Where the segments of pairs really come from."""

import numpy as np

from firth import features
from firth.objectives.rate_checks import RateCheck, by_chance, exactly
from firth.objectives.sample import Sample


def pair_checks(sample: Sample, original: np.ndarray) -> list[RateCheck]:
    """Checks the pairs of masked LM, if it has any.

    Args:
        sample: With features of next sentences, of sentence order, or of neither.
        original: int32 [rows, length], the token ids before any was masked.
    """
    if features.NEXT_SENTENCE_LABELS in sample.made:
        return _next_sentence(sample, original)
    if features.SENTENCE_ORDER_LABELS in sample.made:
        return _sentence_order(sample, original)
    return []


def _next_sentence(sample, original) -> list[RateCheck]:
    """Random segments come from another document, always; from how many pairs, by chance.

    A pair stays a true one where the partner row has no other document to offer.
    """
    labels = sample.made[features.NEXT_SENTENCE_LABELS] > 0
    real = sample.made[features.NEXT_SENTENCE_WEIGHTS] > 0
    chances, randoms, same, foreign_true = [], 0, 0, 0
    for row, number, raw in sample.documents():
        if not real[row, number]:
            continue
        others = _other_documents(sample, row, number)
        chances.append(sample.config.random_next_rate if others else 0.0)
        first, second = _segments(sample, original, row, number)
        if labels[row, number]:
            randoms += 1
            same += not any(_holds(other, second) for other in others)
        else:
            foreign_true += first + second != raw.tolist()
    return [
        by_chance("random_next", randoms, chances),
        exactly("same_document", same, randoms, 0),
        exactly("true_pairs_broken", foreign_true, len(chances) - randoms, 0),
    ]


def _sentence_order(sample, original) -> list[RateCheck]:
    """Both segments are the document's own; whether they are swapped is left to chance."""
    labels = sample.made[features.SENTENCE_ORDER_LABELS] > 0
    real = sample.made[features.SENTENCE_ORDER_WEIGHTS] > 0
    pairs = swapped = broken = 0
    for row, number, raw in sample.documents():
        if real[row, number]:
            first, second = _segments(sample, original, row, number)
            pairs, swapped = pairs + 1, swapped + int(labels[row, number])
            broken += (second + first if labels[row, number] else first + second) != raw.tolist()
    return [
        by_chance("swapped", swapped, [sample.config.swap_rate] * pairs),
        exactly("pairs_broken", broken, pairs, 0),
    ]


def _segments(sample, original, row, number) -> tuple[list[int], list[int]]:
    """Returns both segments of a document, without `[CLS]` and the `[SEP]` behind each."""
    mine = sample.made[features.DOCUMENT_IDS][row] == number + 1
    segments, tokens = sample.made[features.SEGMENT_IDS][row][mine], original[row][mine]
    return tokens[segments == 0][1:-1].tolist(), tokens[segments == 1][:-1].tolist()


def _other_documents(sample, row, number) -> list[list[int]]:
    """Returns the documents of the partner row that a random segment may come from."""
    partner = {name: value[row] for name, value in sample.partners.items()}
    lengths = partner[features.CHUNK_LENGTHS]
    texts = np.split(partner[features.RAW_TOKENS], np.cumsum(lengths))
    own = sample.rows[features.DOCUMENT_KEYS][row, number]
    keys = partner[features.DOCUMENT_KEYS]
    return [text.tolist() for text, key, length in zip(texts, keys, lengths) if length >= 2 and key != own]


def _holds(text: list[int], part: list[int]) -> bool:
    return any(text[start : start + len(part)] == part for start in range(len(text)))
