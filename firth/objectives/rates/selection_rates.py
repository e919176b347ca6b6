"""Measured rates of the objectives that predict chosen positions."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from firth import features
from firth.objectives.rates.pair_rates import pair_checks
from firth.objectives.rates.rate_checks import (
    SIGMAS,
    RateCheck,
    Rates,
    Sample,
    between,
    by_chance,
    counted,
    effective_draws,
    exactly,
    near,
    padding_share,
)
from firth.objectives.transforms.runs import geometric_lengths


def masked_lm_rates(sample: Sample) -> Rates:
    """Measures masked LM, its tasks on pairs included."""
    seen = _Seen(sample)
    whole = sample.config.whole_word or sample.config.max_ngram > 1
    longest = seen.longest_words() * sample.config.max_ngram if whole else np.ones(len(seen.used), int)
    corrupted = seen.corrupted(seen.runs() if whole else None)
    return seen.rates(seen.selected(longest), *corrupted, *pair_checks(sample, seen.original))


def replaced_token_detection_rates(sample: Sample) -> Rates:
    """Measures the inputs of the generator of replaced-token detection."""
    seen = _Seen(sample)
    return seen.rates(seen.selected(np.ones(len(seen.used), int)), *seen.corrupted(None))


def span_masking_rates(sample: Sample) -> Rates:
    """Measures span masking, whose corruption is drawn once for each span."""
    seen = _Seen(sample)
    longest = seen.longest_words() * sample.config.max_span
    words = _span_words(seen)
    chances = geometric_lengths(sample.config.length_parameter, sample.config.max_span)
    lengths = np.arange(1, len(chances) + 1)
    mean = float((chances * lengths).sum())
    variance = float((chances * lengths**2).sum()) - mean**2
    drawn = near("mean_span_words", sum(words), len(words), mean * len(words), variance * len(words))
    return seen.rates(
        seen.selected(longest),
        # Spans for which a row has no room are skipped, which are the longer ones.
        RateCheck(drawn.name, drawn.measured, min(1.0, drawn.upper), drawn.upper),
        *seen.corrupted(seen.runs()),
        span_words=counted(words),
    )


def _span_words(seen: "_Seen") -> list[int]:
    """Returns the number of words of each span: those that begin in it, and the one that it begins in."""
    sample, words = seen.sample, []
    for row, (positions, used) in enumerate(zip(seen.positions, seen.used)):
        chosen = positions[used]
        # Each document is between a `[CLS]` and a `[SEP]`.
        raw = chosen - 2 * sample.made[features.DOCUMENT_IDS][row][chosen] + 1
        starts = sample.rows[features.WORD_STARTS][row][raw] > 0
        breaks = np.flatnonzero(np.diff(chosen) != 1) + 1
        words += [1 + int(each[1:].sum()) for each in np.split(starts, breaks) if len(each)]
    return words


def unilm_rates(sample: Sample) -> Rates:
    """Measures UniLM: selection, and the mixture of attention masks, drawn once for each row."""
    seen = _Seen(sample)
    kinds = [_mask_kind(*each) for each in zip(*(sample.made[name] for name in _ORDERED))]
    kinds = [kind for kind in kinds if kind]
    mixture = [
        by_chance(f"mask_{kind}", kinds.count(kind), [rate] * len(kinds))
        for kind, rate in sample.config.mixture.items()
    ]
    selected, pairs = seen.selected(np.full(len(seen.used), 3)), pair_checks(sample, seen.original)
    return seen.rates(selected, *seen.corrupted(seen.runs()), *mixture, *pairs)


def permutation_lm_rates(sample: Sample) -> Rates:
    """Measures permutation LM: the predicted tokens, and the share with a changed order."""
    seen = _Seen(sample)
    order = sample.made[features.ATTENTION_ORDER]
    chosen = np.take_along_axis(order, seen.positions, axis=1)
    places = np.take_along_axis(sample.made[features.DOCUMENT_IDS], seen.positions, axis=1)
    groups = [
        chosen[row][seen.used[row] & (places[row] == document)]
        for row in range(len(chosen))
        for document in np.unique(places[row][seen.used[row]])
    ]
    moved = sum(bool((np.diff(group) < 0).any()) for group in groups if len(group) > 1)
    chances = [1 - 1 / math.factorial(min(len(group), 20)) for group in groups if len(group) > 1]
    repeated = sum(len(np.unique(group)) < len(group) for group in groups)
    most = by_chance("permuted", moved, chances)
    return seen.rates(
        seen.selected(np.full(len(seen.used), sample.config.max_span), sample.config.predicted_fraction),
        # Spans may keep together what would otherwise be out of order.
        RateCheck("permuted", most.measured, most.lower / 2, most.upper),
        exactly("orders_shared", repeated, len(groups), 0),
    )


_ORDERED = (features.ATTENTION_ORDER, features.DOCUMENT_IDS)


def _mask_kind(order: npt.NDArray[Any], document_ids: npt.NDArray[Any]) -> str:
    """Returns the name of a row's attention mask, empty if its documents are too short to show it."""
    for document in range(1, document_ids.max(initial=0) + 1):
        steps = np.diff(order[document_ids == document])
        if len(steps) < 4:
            continue
        if not steps.any():
            return "bidirectional"
        if (steps > 0).all():
            return "left_to_right"
        return "right_to_left" if (steps < 0).all() else "sequence_to_sequence"
    return ""


class _Seen:
    """The predictions of a sample."""

    def __init__(self, sample: Sample) -> None:
        made = sample.made
        self.sample, self.config = sample, sample.config
        self.used = made[features.MASKED_WEIGHTS] > 0
        self.positions, self.labels = made[features.MASKED_POSITIONS], made[features.MASKED_LABELS]
        self.shown = np.take_along_axis(made[features.TOKEN_IDS], self.positions, axis=1)
        self.original = made[features.TOKEN_IDS].copy()
        rows, _ = np.nonzero(self.used)
        self.original[rows, self.positions[self.used]] = self.labels[self.used]
        real = made[features.DOCUMENT_IDS] > 0
        self.maskable = (real & ~sample.is_special(self.original)).sum(axis=1)

    def selected(self, longest: npt.NDArray[Any], rate: float | None = None) -> RateCheck:
        """Checks the number of predicted tokens; units of up to `longest` tokens may leave room in a row."""
        if rate is None:
            rate = self.config.mask_rate_at(self.sample.rows.get(features.PROGRESS, 1.0))
        wanted = np.maximum(np.round(rate * self.maskable), 1)
        budgets = np.minimum(np.minimum(wanted, self.config.max_predictions), self.maskable)
        least = np.maximum(budgets - (longest - 1), 0)
        return between("selected", self.used.sum(), self.maskable.sum(), least.sum(), budgets.sum())

    def longest_words(self) -> npt.NDArray[Any]:
        """Returns the tokens of the longest word of each row or its negative row: int64 [rows]."""
        found = []
        for rows in (self.sample.rows, self.sample.negatives):
            starts = rows[features.WORD_STARTS] > 0
            length = rows[features.CHUNK_LENGTHS].sum(axis=1)
            found.append([_longest(flags[:count]) for flags, count in zip(starts, length)])
        return np.max(found, axis=0)

    def runs(self) -> list[int]:
        """Returns the lengths of the runs of neighbouring predicted tokens."""
        lengths = []
        for positions, used in zip(self.positions, self.used):
            chosen = positions[used]
            breaks = np.flatnonzero(np.diff(chosen) != 1) + 1
            lengths += [len(each) for each in np.split(chosen, breaks) if len(each)]
        return lengths

    def corrupted(self, units: list[int] | None) -> list[RateCheck]:
        """Checks the shares of masked, replaced and kept tokens among the predicted ones."""
        config, sample = self.config, self.sample
        shown, labels = self.shown[self.used], self.labels[self.used]
        size = sample.tokenizer.vocabulary_size()
        drawable = size if config.paper_exact else size - len(np.unique(sample.special_ids))
        hit = config.random_token_rate / drawable
        expected = {
            "masked": config.mask_token_rate + (hit if config.paper_exact else 0.0),
            "random": config.random_token_rate - (2 if config.paper_exact else 1) * hit,
            "kept": 1.0 - config.mask_token_rate - config.random_token_rate + hit,
        }
        mask = sample.tokenizer.mask_id
        found = {
            "masked": shown == mask,
            "random": (shown != mask) & (shown != labels),
            "kept": shown == labels,
        }
        draws = len(shown) if units is None else effective_draws(units)
        checks = [_share(name, found[name].sum(), len(shown), expected[name], draws) for name in found]
        if not config.paper_exact:
            drawn = (sample.is_special(shown) & (shown != mask)).sum()
            checks.append(exactly("special_tokens_drawn", drawn, len(shown), 0))
        return checks

    def rates(self, *checks: RateCheck, **histograms: dict[int, int]) -> Rates:
        """Returns the given checks and those of all objectives, with the lengths of predicted runs."""
        sample = self.sample
        outside = np.take_along_axis(sample.made[features.DOCUMENT_IDS], self.positions, axis=1) == 0
        touched = (sample.is_special(self.labels) | outside)[self.used]
        untouched = exactly("special_tokens_touched", touched.sum(), self.used.sum(), 0)
        lengths = counted(self.runs())
        return Rates((*checks, untouched, padding_share(sample)), {"span_lengths": lengths, **histograms})


def _share(name: str, part: float, whole: float, expected: float, draws: float) -> RateCheck:
    width = SIGMAS * math.sqrt(max(expected * (1 - expected), 0.0) / max(draws, 1.0))
    if 0.0 < expected < 1.0:
        width += 1.0 / max(draws, 1.0)
    measured = float(part / max(whole, 1))
    if not whole:
        return RateCheck(name, 0.0, 0.0, 1.0)
    return RateCheck(name, measured, max(expected - width, 0.0), min(expected + width, 1.0))


def _longest(starts: npt.NDArray[Any]) -> int:
    edges = np.flatnonzero(np.append(starts, True))
    return int(np.diff(np.concatenate([[0], edges])).max(initial=1)) if len(starts) else 1
