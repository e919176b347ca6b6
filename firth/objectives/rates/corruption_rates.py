"""Measured rates of the objectives that corrupt documents: spans with sentinels, and BART's corruptions."""

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
    near,
    padding_share,
)
from firth.objectives.transforms.infilling import poisson_cdf


@dataclasses.dataclass(frozen=True)
class _Document:
    """One document, as it was and as it was corrupted.

    Attributes:
        tokens: Number of raw tokens.
        free: Number of raw tokens that are not special pieces.
        noise, spans: Numbers of corrupted tokens and of spans by the recipe, for a random corruption.
        inputs: Ids that the encoder sees, sentinels and closing piece included.
        spans_shown: Lengths of the spans in the targets.
        labels: Ids that are predicted, sentinels and closing piece included.
    """

    tokens: int
    free: int
    noise: int
    spans: int
    inputs: npt.NDArray[Any]
    spans_shown: list[int]
    labels: npt.NDArray[Any]

    @property
    def hidden(self) -> int:
        """Number of corrupted tokens."""
        return sum(self.spans_shown)


@dataclasses.dataclass(frozen=True)
class _DenoisedDocument:
    """One document, as it was and as it was corrupted.

    Attributes:
        raw: Its tokens.
        shown: Ids that the encoder sees between `[CLS]` and `[SEP]`.
        sentences: Number of the sentence of each raw token.
        free: Number of raw tokens that are not special pieces.
        is_whole: True if the labels are the whole document with its end, and the inputs are closed too.
    """

    raw: npt.NDArray[Any]
    shown: npt.NDArray[Any]
    sentences: npt.NDArray[Any]
    free: int
    is_whole: bool


def span_corruption_rates(sample: Sample) -> Rates:
    """Measures span corruption: counts are not left to chance, only places are."""
    documents = list(_read(sample))
    tokens = sum(each.tokens for each in documents)
    spans = sum(len(each.spans_shown) for each in documents)
    hidden, noise = sum(each.hidden for each in documents), sum(each.noise for each in documents)
    wanted = sum(each.spans for each in documents)
    mean = noise / max(wanted, 1)
    return _rates(
        sample,
        documents,
        exactly("noise", hidden, tokens, noise),
        exactly("sentinels_per_document", spans, len(documents), wanted),
        RateCheck("mean_span", hidden / max(spans, 1), mean, mean),
        *_ends(sample, [each for each in documents if each.free == each.tokens and each.noise]),
    )


def iid_denoising_rates(sample: Sample) -> Rates:
    """Measures i.i.d. denoising: the noise is fixed, the number of its runs is left to chance."""
    documents = list(_read(sample))
    tokens = sum(each.tokens for each in documents)
    spans = sum(len(each.spans_shown) for each in documents)
    expected, variance = np.sum([_runs(each.free, each.noise) for each in documents], axis=0)
    noise = sum(each.noise for each in documents)
    return _rates(
        sample,
        documents,
        exactly("noise", sum(each.hidden for each in documents), tokens, noise),
        near("sentinels_per_document", spans, len(documents), expected, variance),
    )


def salient_spans_rates(sample: Sample) -> Rates:
    """Measures salient spans: one span in each document, or random ones in a document without any."""
    documents = list(_read(sample))
    hidden = [each for each in documents if each.hidden]
    most = sum(max(each.spans, 1) for each in hidden)
    possible = sum(1 for each in documents if each.noise) if sample.config.fallback else 0
    longest = max((max(each.spans_shown) for each in hidden), default=0)
    limit = max([sample.config.max_span, *(each.noise for each in documents)])
    return _rates(
        sample,
        documents,
        between("corrupted_documents", len(hidden), len(documents), possible, len(documents)),
        between(
            "sentinels_per_document",
            sum(len(each.spans_shown) for each in hidden),
            len(hidden),
            len(hidden),
            most,
        ),
        RateCheck("longest_span", float(longest), 0.0, float(limit)),
    )


def denoising_rates(sample: Sample) -> Rates:
    """Measures BART's corruptions. The number of tokens that they change is not left to chance."""
    config, documents = sample.config, list(_read_denoised(sample))
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


def _rates(sample: Sample, documents: list[_Document], *own: RateCheck) -> Rates:
    """Returns the given checks and those of all objectives with sentinels, with the counts of spans."""
    specials = np.setdiff1d(sample.special_ids, sample.tokenizer.sentinel_ids)
    labels = sum(len(each.labels) for each in documents)
    touched = sum(np.isin(each.labels[:-1], specials).sum() for each in documents)
    cut = sum(each.inputs.size == 0 or not _is_closed(sample, each) for each in documents)
    used = max((len(each.spans_shown) for each in documents), default=0)
    checks = [
        exactly("special_tokens_touched", touched, labels, 0),
        exactly("cut_off", cut, len(documents), 0),
        RateCheck("most_sentinels", float(used), 0.0, float(len(sample.tokenizer.sentinel_ids))),
        padding_share(sample),
    ]
    if features.DECODER_DOCUMENT_IDS in sample.made:
        checks.append(padding_share(sample, "target_padding", features.DECODER_DOCUMENT_IDS))
    histograms = {
        "span_lengths": counted(length for each in documents for length in each.spans_shown),
        "sentinels": counted(len(each.spans_shown) for each in documents),
    }
    return Rates((*own, *checks), histograms)


def _ends(sample: Sample, documents: list[_Document]) -> list[RateCheck]:
    """Checks that first and last tokens are corrupted as often as the rotation implies."""
    sentinels = sample.tokenizer.sentinel_ids
    first = sum(each.inputs[0] in sentinels for each in documents)
    last = sum(each.inputs[-2] in sentinels for each in documents)
    if not sample.config.random_roll:
        count = len(documents)
        return [exactly("first_corrupted", first, count, 0), exactly("last_corrupted", last, count, count)]
    # A rotated document may begin anywhere but inside a span, and each span has one such place.
    chances = [each.spans / (each.tokens - each.noise + each.spans) for each in documents]
    return [by_chance("first_corrupted", first, chances), by_chance("last_corrupted", last, chances)]


def _runs(tokens: int, noise: int) -> tuple[float, float]:
    """Returns expectation and variance of the number of runs of so many tokens, chosen at random."""
    kept = tokens - noise
    if tokens < 2 or not noise:
        return float(noise > 0), 0.0
    expected = noise * (kept + 1) / tokens
    return expected, noise * (noise - 1) * kept * (kept + 1) / (tokens**2 * (tokens - 1))


def _is_closed(sample: Sample, document: _Document) -> bool:
    closings = {sample.tokenizer.sep_id}
    if document.inputs[-1] not in closings:
        return False
    if sample.config.closing_sentinel:
        closings = set(sample.tokenizer.sentinel_ids.tolist())
    return not len(document.labels) or document.labels[-1] in closings


def _share(rate: float, documents: list[_DenoisedDocument]) -> npt.NDArray[Any]:
    return np.array([round(rate * each.free) for each in documents], np.int64)


def _spans(found: npt.NDArray[Any], infilled: npt.NDArray[Any], mean: float) -> RateCheck:
    """Checks the number of spans for each infilled token.

    Lengths are drawn until their sum is the number of infilled tokens, so their number is a renewal count.
    Empty spans beyond what the others save are dropped, so there may be fewer of these.
    """
    expected, variance = _renewals(int(infilled.max(initial=0)), mean)
    width = SIGMAS * math.sqrt(variance[infilled].sum()) + 1.0
    most = expected[infilled].sum()
    least = most * (1.0 - math.exp(-mean))
    return between("spans_per_infilled", found.sum(), infilled.sum(), max(least - width, 0.0), most + width)


def _renewals(most: int, mean: float) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Returns the expected number of draws to reach 0, 1, ..., `most`, and its variance."""
    chances = np.diff(poisson_cdf(mean).astype(np.float64), prepend=0.0)
    first, second = np.zeros(most + 1), np.zeros(most + 1)
    for total in range(1, most + 1):
        sizes = np.arange(1, min(total, len(chances) - 1) + 1)
        after = (chances[sizes] * first[total - sizes]).sum()
        first[total] = (1.0 + after) / (1.0 - chances[0])
        squares = (chances[sizes] * second[total - sizes]).sum()
        second[total] = (1.0 + 2 * after + 2 * chances[0] * first[total] + squares) / (1.0 - chances[0])
    return first, np.maximum(second - first**2, 0.0)


def _permuted(sample: Sample, documents: list[_DenoisedDocument]) -> list[RateCheck]:
    """Checks the number of documents with another order of sentences: all but one in (sentences)!.

    Sentences are recognised by tokens that a document has once only. A rotation changes the order too, so it
    can only add documents.
    """
    mask = sample.tokenizer.mask_id
    orders = [order for each in documents if len(order := _sentence_order(each, mask)) > 1]
    moved = sum(order != sorted(order) for order in orders)
    if sample.config.rotate:
        return [between("permuted", moved, len(orders), 0, len(orders))]
    if not sample.config.permute_sentences:
        return [exactly("permuted", moved, len(orders), 0)]
    return [by_chance("permuted", moved, [1 - 1 / math.factorial(min(len(order), 20)) for order in orders])]


def _sentence_order(document: _DenoisedDocument, mask_id: int) -> list[int]:
    values, firsts, counts = np.unique(document.raw, return_index=True, return_counts=True)
    once = (counts == 1) & (values != mask_id)
    sentence_of = dict(zip(values[once].tolist(), document.sentences[firsts[once]].tolist()))
    return list(
        dict.fromkeys(sentence_of[token] for token in document.shown.tolist() if token in sentence_of)
    )


def _touched(sample: Sample, documents: list[_DenoisedDocument]) -> tuple[int, int]:
    """Returns the number of special pieces of the texts that were lost, and their number in the texts."""
    lost = there = 0
    for each in documents:
        specials = each.raw[sample.is_special(each.raw)]
        shown = np.append(each.shown, [])
        for special in np.unique(specials):
            before, after = (specials == special).sum(), (shown == special).sum()
            lost, there = lost + max(int(before - after), 0), there + int(before)
    return lost, there


def _read(sample: Sample) -> Iterator[_Document]:
    for row, number, raw in sample.documents():
        inputs, labels = _parts(sample, row, number)
        free = int((~sample.is_special(raw)).sum())
        noise = min(sample.config.noise_tokens(len(raw)), max(free - 1, 0))
        spans = min(sample.config.most_spans(len(raw)) if noise else 0, noise, free - noise)
        is_sentinel = np.isin(labels[:-1], sample.tokenizer.sentinel_ids)
        starts = np.flatnonzero(is_sentinel)
        lengths = (np.diff([*starts, len(is_sentinel)]) - 1).tolist()
        yield _Document(len(raw), free, noise, spans, inputs, lengths, labels)


def _parts(sample: Sample, row: int, number: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Returns inputs and labels of a document; no labels where it has no weight."""
    made = {name: value[row] for name, value in sample.made.items()}
    mine = made[features.DOCUMENT_IDS] == number + 1
    inputs = made[features.TOKEN_IDS][mine]
    if features.ATTENTION_ORDER in made:
        weights = made[features.LABEL_WEIGHTS] * mine
        inputs = inputs[made[features.ATTENTION_ORDER][mine] == 0]
    else:
        weights = made[features.LABEL_WEIGHTS] * (made[features.DECODER_DOCUMENT_IDS] == number + 1)
    return inputs, made[features.LABEL_IDS][weights > 0]


def _read_denoised(sample: Sample) -> Iterator[_DenoisedDocument]:
    cls, sep = sample.tokenizer.cls_id, sample.tokenizer.sep_id
    starts = np.cumsum(sample.rows[features.CHUNK_LENGTHS], axis=1)
    for row, number, raw in sample.documents():
        end = starts[row, number]
        begins = sample.rows[features.SENTENCE_STARTS][row, end - len(raw) : end]
        inputs = sample.made[features.TOKEN_IDS][row][sample.made[features.DOCUMENT_IDS][row] == number + 1]
        mine = sample.made[features.DECODER_DOCUMENT_IDS][row] == number + 1
        labels = sample.made[features.LABEL_IDS][row][mine & (sample.made[features.LABEL_WEIGHTS][row] > 0)]
        closed = len(inputs) > 1 and inputs[0] == cls and inputs[-1] == sep
        yield _DenoisedDocument(
            raw,
            inputs[1:-1],
            np.cumsum(begins),
            int((~sample.is_special(raw)).sum()),
            bool(closed and labels.tolist() == [cls, *raw.tolist(), sep]),
        )
