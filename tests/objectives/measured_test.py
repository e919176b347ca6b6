"""Measured rates: right objectives are within bounds, broken ones are not."""

import json
import typing

import numpy as np
import pytest

from firth.objectives import OBJECTIVES, measure_rates
from firth.objectives.rates.rate_checks import by_chance, near
from firth.recipes.objectives.denoising import Denoising, IidDenoising, SalientSpans, SpanCorruption
from firth.recipes.objectives.language_models import BidirectionalLM, CausalLM, PrefixLM
from firth.recipes.objectives.masking import MaskedLM, ReplacedTokenDetection, SpanMasking, UniLM
from firth.recipes.objectives.objective import AnyObjective
from firth.recipes.objectives.permutation import PermutationLM
from firth.recipes.tokenizers.tokenizer import Sequences
from firth.tokenizers import WordTokenizer
from tests.objectives.cases import WORD_PIECES as TOKENIZER
from tests.objectives.rows import make_batch, negatives_of, random_rows

SEQUENCES = Sequences(length=64, max_documents=4)
ROWS = 300
CASES = {
    "masked_lm": MaskedLM(max_predictions=9),
    "masked_lm-alone": MaskedLM(next_sentence=False, mask_token_rate=0.5, random_token_rate=0.5),
    "masked_lm-words": MaskedLM(whole_word=True),
    "masked_lm-exact": MaskedLM(paper_exact=True, mask_token_rate=0.0, random_token_rate=1.0),
    "masked_lm-order": MaskedLM(next_sentence=False, sentence_order=True, max_ngram=3, whole_word=True),
    "span_masking": SpanMasking(),
    "span_masking-alone": SpanMasking(boundary=False),
    "replaced": ReplacedTokenDetection(),
    "unilm": UniLM(),
    "unilm-paper": UniLM(single_segments=True, next_sentence=True),
    "permutation": PermutationLM(),
    "causal": CausalLM(),
    "prefix": PrefixLM(),
    "prefix-decoder": PrefixLM(architecture="encoder_decoder"),
    "spans": SpanCorruption(),
    "spans-unrolled": SpanCorruption(random_roll=False, closing_sentinel=True),
    "spans-decoder": SpanCorruption(architecture="decoder"),
    "iid": IidDenoising(noise_density=0.3),
    "salient": SalientSpans(),
    "salient-alone": SalientSpans(fallback=False, architecture="decoder"),
    "bart": Denoising(),
    "bart-hard": Denoising(rotate=0.5, delete_rate=0.2, mask_rate=0.2, infill_rate=0.2, infill_mean=1.0),
    "bart-unpermuted": Denoising(permute_sentences=False),
}


class Made(typing.NamedTuple):
    config: typing.Any
    rows: dict
    negatives: dict
    features: dict

    def measure(self, config=None, **changed):
        """The rates under another recipe, or of other features."""
        made = {**self.features, **changed}
        return measure_rates(config or self.config, TOKENIZER, self.rows, self.negatives, made)


# Settings under which other cases are measured too, and which no test below breaks.
REPEATED = {
    "masked_lm-alone",
    "masked_lm-words",
    "span_masking-alone",
    "unilm-paper",
    "spans-decoder",
    "salient",
}


class MadeOnce(dict):
    """What objectives made, each when it is first asked for."""

    def __missing__(self, name) -> Made:
        self[name] = make(CASES[name])
        return self[name]


def make(config) -> Made:
    objective = OBJECTIVES[config.kind](config, SEQUENCES, TOKENIZER)
    rows = random_rows(
        ROWS, objective.raw_length + config.special_tokens, config.special_tokens, SEQUENCES.max_documents
    )
    negatives = negatives_of(rows)
    seeds = np.stack([np.full(ROWS, 11), np.arange(ROWS)], axis=1)
    return Made(config, rows, negatives, make_batch(objective, rows, negatives, seeds))


@pytest.fixture(scope="module")
def all_made():
    return MadeOnce()


def broken(rates):
    return {check.name for check in rates.broken}


def test_every_kind_has_rates():
    kinds = {
        typing.get_args(each.model_fields["kind"].annotation)[0]
        for each in typing.get_args(typing.get_args(AnyObjective)[0])
    }
    assert set(OBJECTIVES) == kinds


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.repeated] * (name in REPEATED)) for name in CASES]
)
def test_a_right_objective_is_within_its_bounds(all_made, name):
    rates = all_made[name].measure()
    assert [str(check) for check in rates.broken] == []
    names = [check.name for check in rates.checks]
    assert len(set(names)) == len(names)
    assert json.loads(json.dumps(rates.to_dict()))["ok"] is True


@pytest.mark.parametrize(
    ("name", "changed", "noticed"),
    [
        ("masked_lm", {"mask_rate": 0.2, "max_predictions": 20}, "selected"),
        ("masked_lm", {"mask_token_rate": 0.72, "random_token_rate": 0.18}, "masked"),
        ("masked_lm", {"random_token_rate": 0.0, "mask_token_rate": 0.8}, "kept"),
        ("masked_lm", {"random_next_rate": 0.7}, "random_next"),
        ("masked_lm-exact", {"paper_exact": False}, "special_tokens_drawn"),
        ("masked_lm-order", {"swap_rate": 0.3}, "swapped"),
        ("span_masking", {"length_parameter": 0.6}, "mean_span_words"),
        ("replaced", {"mask_token_rate": 0.7}, "masked"),
        ("unilm", {"bidirectional_rate": 0.1, "left_to_right_rate": 0.4}, "mask_bidirectional"),
        ("permutation", {"predicted_fraction": 0.1}, "selected"),
        ("spans", {"noise_density": 0.2}, "noise"),
        ("spans", {"mean_span": 2.0}, "mean_span"),
        ("spans", {"random_roll": False}, "first_corrupted"),
        ("spans-unrolled", {"random_roll": True}, "last_corrupted"),
        ("spans-unrolled", {"closing_sentinel": False}, "cut_off"),
        ("iid", {"noise_density": 0.2}, "noise"),
        ("salient-alone", {"fallback": True}, "corrupted_documents"),
        ("bart", {"infill_rate": 0.2}, "removed"),
        ("bart", {"infill_mean": 6.0}, "spans_per_infilled"),
        ("bart", {"permute_sentences": False}, "permuted"),
        ("bart-unpermuted", {"permute_sentences": True}, "permuted"),
        ("bart-hard", {"delete_rate": 0.1}, "removed"),
    ],
)
def test_another_rate_than_the_recipe_s_is_noticed(all_made, name, changed, noticed):
    made = all_made[name]
    assert noticed in broken(made.measure(made.config.model_copy(update=changed)))


def test_spans_that_are_single_tokens_are_noticed(all_made):
    """i.i.d. denoising that never puts consecutive tokens under one sentinel, or always does."""
    made = all_made["iid"]
    rate = made.measure()["sentinels_per_document"]
    assert rate.lower > 1 and rate.upper < made.measure()["noise"].measured * 64


def test_special_tokens_touched_are_noticed(all_made):
    labels = all_made["masked_lm"].features["masked_labels"].copy()
    labels[5, 0] = 3
    assert "special_tokens_touched" in broken(all_made["masked_lm"].measure(masked_labels=labels))
    labels = all_made["spans"].features["label_ids"].copy()
    row = np.flatnonzero(all_made["spans"].features["label_weights"][:, 1])[0]
    labels[row, 1] = 4
    assert "special_tokens_touched" in broken(all_made["spans"].measure(label_ids=labels))
    tokens = all_made["bart"].features["token_ids"].copy()
    tokens[tokens == 1] = 4
    assert "special_tokens_touched" in broken(all_made["bart"].measure(token_ids=tokens))


def test_a_random_segment_of_the_same_document_is_noticed(all_made):
    """What happens in google-research/bert where documents are few."""
    made = all_made["masked_lm"]
    assert made.measure()["same_document"].measured == 0.0
    keys = np.broadcast_to(made.rows["document_keys"][:, :1], made.rows["document_keys"].shape)
    # Rows and negatives of one document each, so that no segment is of another one.
    one = made._replace(
        rows={**made.rows, "document_keys": keys}, negatives={**made.negatives, "document_keys": keys}
    )
    assert "same_document" in broken(one.measure())


def test_pairs_that_are_not_what_their_label_says_are_noticed(all_made):
    made = all_made["masked_lm"]
    labels = 1 - made.features["next_sentence_labels"]
    assert {"same_document", "true_pairs_broken"} <= broken(made.measure(next_sentence_labels=labels))


def test_an_order_that_is_none_is_noticed(all_made):
    """A permutation LM whose order is that of the text, or whose predicted tokens share one."""
    made = all_made["permutation"]
    order = np.broadcast_to(np.arange(SEQUENCES.length), made.features["attention_order"].shape)
    assert broken(made.measure(attention_order=order)) == {"permuted"}
    assert "orders_shared" in broken(made.measure(attention_order=0 * order))


@pytest.mark.parametrize("name", ["causal", "prefix", "prefix-decoder"])
def test_labels_that_are_not_what_comes_next_are_noticed(all_made, name):
    made = all_made[name]
    labels = np.roll(made.features["label_ids"], 1, axis=1)
    assert broken(made.measure(label_ids=labels)) & {"next_token", "suffix_predicted"}


def test_words_predict_their_neighbours():
    words = WordTokenizer(["<S>", "</S>", "<UNK>", *(f"w{index}" for index in range(97))], max_characters=5)
    config = BidirectionalLM()
    objective = OBJECTIVES["bidirectional_lm"](config, SEQUENCES, words)
    rows = random_rows(50, SEQUENCES.length, config.special_tokens, SEQUENCES.max_documents)
    rows["characters"] = np.zeros((*rows["tokens"].shape, 5), np.int32)
    made = make_batch(objective, rows, rows, np.zeros((50, 2), int))
    assert broken(measure_rates(config, words, rows, rows, made)) == set()
    swapped = {**made, "label_ids": made["backward_label_ids"]}
    assert broken(measure_rates(config, words, rows, rows, swapped)) == {"next_token"}


def test_cut_off_documents_are_noticed(all_made):
    for name in ("spans", "bart"):
        ids = all_made[name].features["document_ids"].copy()
        row = np.argmax((ids > 0).sum(axis=1))
        last = np.flatnonzero(ids[row])[-1]
        ids[row, last] = 0
        assert "cut_off" in broken(all_made[name].measure(document_ids=ids))


def test_lengths_that_tell_the_label_are_noticed(all_made):
    made = all_made["masked_lm"]
    lengths = np.stack([(made.features["document_ids"] == number + 1).sum(axis=1) for number in range(4)], 1)
    weights = made.features["next_sentence_weights"] > 0
    labels = (weights & (lengths > np.median(lengths[weights]))).astype(np.int32)
    rates = made.measure(next_sentence_labels=labels)
    assert "label_told_by_length" in broken(rates)
    assert rates["label_told_by_length"].measured > 0.95


def test_histograms(all_made):
    rates = all_made["spans"].measure()
    lengths = rates.histograms["span_lengths"]
    total = sum(length * count for length, count in lengths.items())
    assert rates["mean_span"].measured == pytest.approx(total / sum(lengths.values()))
    assert max(lengths) > 3 and min(lengths) == 1


@pytest.mark.parametrize("draws", [1, 3, 1000])
def test_bounds_hold_for_few_draws_and_many(draws):
    for hits in (0, draws):
        assert by_chance("all or none", hits, [0.5] * draws).ok == (draws < 30)
    assert near("mean", draws, draws, draws, 0.0).ok
