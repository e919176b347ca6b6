"""Measured rates of BART's corruptions."""

import dataclasses
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from firth import features
from firth.objectives.rates.rate_checks import (
    SIGMAS,
    RateCheck,
    Rates,
    Sample,
    between,
    by_chance,
    counted,
    exactly,
    padding_share,
)
from firth.objectives.transforms.infilling import poisson_cdf


@dataclasses.dataclass(frozen=True)
class _Document:
    """One document, as it was and as it was corrupted.

    Attributes:
        raw: Its tokens.
        shown: What the encoder sees between `[CLS]` and `[SEP]`.
        sentences: The sentence that each raw token is of.
        free: Number of raw tokens that are not special pieces.
        is_whole: Whether the labels are the document, closed, and the inputs too.
    """

    raw: npt.NDArray[Any]
    shown: npt.NDArray[Any]
    sentences: npt.NDArray[Any]
    free: int
    is_whole: bool


def denoising_rates(sample: Sample) -> Rates:
    """Measures BART's corruptions. The number of tokens that they change is not left to chance."""
    config, documents = sample.config, list(_read(sample))
    mask = sample.tokenizer.mask_id
    rates = (config.delete_rate, config.mask_rate, config.infill_rate)
    deleted, masked, infilled = (_share(rate, documents) for rate in rates)
    left = [each.free for each in documents]
    masked = np.minimum(masked, left - deleted)
    infilled = np.minimum(infilled, left - deleted - masked)
    tokens = sum(len(each.raw) for each in documents)
    kept = sum((each.shown != mask).sum() + (each.raw == mask).sum() for each in documents)
    masks = np.array([(each.shown == mask).sum() - (each.raw == mask).sum() for each in documents])
    checks = [
        exactly("removed", tokens - kept, tokens, (deleted + masked + infilled).sum()),
        _spans(masks - masked, infilled, config.infill_mean),
        *_permuted(sample, documents),
        exactly("special_tokens_touched", *_touched(sample, documents), 0),
        exactly("cut_off", sum(not each.is_whole for each in documents), len(documents), 0),
        padding_share(sample),
    ]
    return Rates(tuple(checks), {"masks": counted(masks.tolist())})


def _share(rate: float, documents: list[_Document]) -> npt.NDArray[Any]:
    return np.array([round(rate * each.free) for each in documents], np.int64)


def _spans(found: npt.NDArray[Any], infilled: npt.NDArray[Any], mean: float) -> RateCheck:
    """Checks the number of spans for each infilled token.

    The lengths are drawn until they come to what is to be infilled, so their number is a renewal count.
    Empty spans beyond what the others save are dropped, so there may be fewer of these.
    """
    expected, variance = _renewals(int(infilled.max(initial=0)), mean)
    width = SIGMAS * math.sqrt(variance[infilled].sum()) + 1.0
    most = expected[infilled].sum()
    least = most * (1.0 - math.exp(-mean))
    return between("spans_per_infilled", found.sum(), infilled.sum(), max(least - width, 0.0), most + width)


def _renewals(most: int, mean: float) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Returns expectation and variance of how many lengths are drawn to reach 0, 1, ..., `most`."""
    chances = np.diff(poisson_cdf(mean).astype(np.float64), prepend=0.0)
    first, second = np.zeros(most + 1), np.zeros(most + 1)
    for total in range(1, most + 1):
        sizes = np.arange(1, min(total, len(chances) - 1) + 1)
        after = (chances[sizes] * first[total - sizes]).sum()
        first[total] = (1.0 + after) / (1.0 - chances[0])
        squares = (chances[sizes] * second[total - sizes]).sum()
        second[total] = (1.0 + 2 * after + 2 * chances[0] * first[total] + squares) / (1.0 - chances[0])
    return first, np.maximum(second - first**2, 0.0)


def _permuted(sample: Sample, documents: list[_Document]) -> list[RateCheck]:
    """Checks in how many documents sentences come in another order: all but one in (sentences)!.

    Sentences are recognised by tokens that a document has once only. A rotation turns the order too, so that
    it can only make more.
    """
    mask = sample.tokenizer.mask_id
    orders = [order for each in documents if len(order := _sentence_order(each, mask)) > 1]
    moved = sum(order != sorted(order) for order in orders)
    if sample.config.rotate:
        return [between("permuted", moved, len(orders), 0, len(orders))]
    if not sample.config.permute_sentences:
        return [exactly("permuted", moved, len(orders), 0)]
    return [by_chance("permuted", moved, [1 - 1 / math.factorial(min(len(order), 20)) for order in orders])]


def _sentence_order(document: _Document, mask_id: int) -> list[int]:
    values, firsts, counts = np.unique(document.raw, return_index=True, return_counts=True)
    once = (counts == 1) & (values != mask_id)
    sentence_of = dict(zip(values[once].tolist(), document.sentences[firsts[once]].tolist()))
    return list(
        dict.fromkeys(sentence_of[token] for token in document.shown.tolist() if token in sentence_of)
    )


def _touched(sample: Sample, documents: list[_Document]) -> tuple[int, int]:
    """Returns how many special pieces of the texts were lost, and how many the texts had."""
    lost = there = 0
    for each in documents:
        specials = each.raw[sample.is_special(each.raw)]
        shown = np.append(each.shown, [])
        for special in np.unique(specials):
            before, after = (specials == special).sum(), (shown == special).sum()
            lost, there = lost + max(int(before - after), 0), there + int(before)
    return lost, there


def _read(sample: Sample) -> Iterator[_Document]:
    cls, sep = sample.tokenizer.cls_id, sample.tokenizer.sep_id
    starts = np.cumsum(sample.rows[features.CHUNK_LENGTHS], axis=1)
    for row, number, raw in sample.documents():
        end = starts[row, number]
        begins = sample.rows[features.SENTENCE_STARTS][row, end - len(raw) : end]
        inputs = sample.made[features.TOKEN_IDS][row][sample.made[features.DOCUMENT_IDS][row] == number + 1]
        mine = sample.made[features.DECODER_DOCUMENT_IDS][row] == number + 1
        labels = sample.made[features.LABEL_IDS][row][mine & (sample.made[features.LABEL_WEIGHTS][row] > 0)]
        closed = len(inputs) > 1 and inputs[0] == cls and inputs[-1] == sep
        yield _Document(
            raw,
            inputs[1:-1],
            np.cumsum(begins),
            int((~sample.is_special(raw)).sum()),
            bool(closed and labels.tolist() == [cls, *raw.tolist(), sep]),
        )
