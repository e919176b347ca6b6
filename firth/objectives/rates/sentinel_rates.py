"""Measured rates of the objectives with sentinels."""

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from firth import features
from firth.objectives.rates.rate_checks import (
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


@dataclasses.dataclass(frozen=True)
class _Document:
    """One document, as it was and as it was corrupted.

    Attributes:
        tokens: Of the raw document.
        free: Of these, no special pieces.
        noise, spans: What the recipe makes of them; of a random corruption.
        inputs: What the encoder sees, sentinels and closing piece included.
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
        """Tokens that are corrupted."""
        return sum(self.spans_shown)


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


def _rates(sample: Sample, documents: list[_Document], *own: RateCheck) -> Rates:
    """Returns the checks of an objective with those that all of them have, and the counts of spans."""
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
    """Whether first and last tokens are corrupted as often as the turning around makes them."""
    sentinels = sample.tokenizer.sentinel_ids
    first = sum(each.inputs[0] in sentinels for each in documents)
    last = sum(each.inputs[-2] in sentinels for each in documents)
    if not sample.config.random_roll:
        count = len(documents)
        return [exactly("first_corrupted", first, count, 0), exactly("last_corrupted", last, count, count)]
    # Of the places where a document may begin, all but those amid a span, one is where each span does.
    chances = [each.spans / (each.tokens - each.noise + each.spans) for each in documents]
    return [by_chance("first_corrupted", first, chances), by_chance("last_corrupted", last, chances)]


def _runs(tokens: int, noise: int) -> tuple[float, float]:
    """Returns expectation and variance of the number of runs of so many tokens, chosen at random."""
    kept = tokens - noise
    if tokens < 2 or not noise:
        return float(noise > 0), 0.0
    expected = noise * (kept + 1) / tokens
    return expected, noise * (noise - 1) * kept * (kept + 1) / (tokens**2 * (tokens - 1))


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


def _is_closed(sample: Sample, document: _Document) -> bool:
    closings = {sample.tokenizer.sep_id}
    if document.inputs[-1] not in closings:
        return False
    if sample.config.closing_sentinel:
        closings = set(sample.tokenizer.sentinel_ids.tolist())
    return not len(document.labels) or document.labels[-1] in closings
