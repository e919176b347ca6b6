"""Measured rates: right objectives are within bounds, broken ones are not."""

import functools
import json
import typing

import numpy as np
import pytest

from firth.objectives import OBJECTIVES, measure_rates
from firth.objectives.rates.rate_checks import by_chance, near
from firth.recipes.objectives.objective import AnyObjective
from tests.objectives.cases import CASES, SEQUENCES, make_many, of_each


@functools.cache
def rates_of(name):
    """The rates of a case."""
    return measure(name)


def measure(name, config=None, **changed):
    """The rates of a case under another recipe, or of other features."""
    made = make_many(name)
    rows = (made.rows, made.negatives, {**made.features, **changed})
    return measure_rates(config or made.config, made.case.tokenizer, *rows)


def broken(rates):
    return {check.name for check in rates.broken}


def test_every_kind_has_rates():
    kinds = {
        typing.get_args(each.model_fields["kind"].annotation)[0]
        for each in typing.get_args(typing.get_args(AnyObjective)[0])
    }
    assert set(OBJECTIVES) == kinds


@pytest.mark.parametrize("name", of_each())
def test_a_right_objective_is_within_its_bounds(name):
    rates = rates_of(name)
    assert [str(check) for check in rates.broken] == []
    names = [check.name for check in rates.checks]
    assert len(set(names)) == len(names)
    assert json.loads(json.dumps(rates.to_dict()))["ok"] is True


@pytest.mark.parametrize(
    ("name", "changed", "noticed"),
    [
        # Each of these rates by its own key: together, as a forest is grown for each measurement.
        (
            "masked_lm",
            {
                "mask_rate": 0.2,
                "max_predictions": 20,
                "mask_token_rate": 0.72,
                "random_token_rate": 0.08,
                "random_next_rate": 0.95,
            },
            {"selected", "masked", "kept", "random_next"},
        ),
        ("masked_lm-exact", {"paper_exact": False}, {"special_tokens_drawn"}),
        ("masked_lm-order", {"swap_rate": 0.3}, {"swapped"}),
        ("span_masking-hard", {"length_parameter": 0.6}, {"mean_span_words"}),
        ("replaced", {"mask_token_rate": 0.7}, {"masked"}),
        ("unilm", {"bidirectional_rate": 0.1, "left_to_right_rate": 0.4}, {"mask_bidirectional"}),
        ("permutation", {"predicted_fraction": 0.1}, {"selected"}),
        ("spans", {"noise_density": 0.2}, {"noise"}),
        ("spans", {"mean_span": 2.0}, {"mean_span"}),
        ("spans", {"random_roll": False}, {"first_corrupted"}),
        ("spans-unrolled", {"random_roll": True}, {"last_corrupted"}),
        ("spans-unrolled", {"closing_sentinel": False}, {"cut_off"}),
        ("iid", {"noise_density": 0.2}, {"noise"}),
        ("salient-alone", {"fallback": True}, {"corrupted_documents"}),
        ("bart", {"infill_rate": 0.2}, {"removed"}),
        ("bart", {"infill_mean": 6.0}, {"spans_per_infilled"}),
        ("bart", {"permute_sentences": False}, {"permuted"}),
        pytest.param("bart-nothing", {"permute_sentences": True}, {"permuted"}, marks=pytest.mark.repeated),
        ("bart-hard", {"delete_rate": 0.1}, {"removed"}),
    ],
)
def test_another_rate_than_the_recipe_s_is_noticed(name, changed, noticed):
    assert noticed <= broken(measure(name, CASES[name].config.model_copy(update=changed)))


def test_spans_that_are_single_tokens_are_noticed():
    """i.i.d. denoising that never puts consecutive tokens under one sentinel, or always does."""
    rates = rates_of("iid")
    rate = rates["sentinels_per_document"]
    assert rate.lower > 1 and rate.upper < rates["noise"].measured * SEQUENCES.length


def test_special_tokens_touched_are_noticed():
    labels = make_many("masked_lm").features["masked_labels"].copy()
    labels[5, 0] = 3
    assert "special_tokens_touched" in broken(measure("masked_lm", masked_labels=labels))
    labels = make_many("spans").features["label_ids"].copy()
    row = np.flatnonzero(make_many("spans").features["label_weights"][:, 1])[0]
    labels[row, 1] = 4
    assert "special_tokens_touched" in broken(measure("spans", label_ids=labels))
    tokens = make_many("bart").features["token_ids"].copy()
    tokens[tokens == 1] = 4
    assert "special_tokens_touched" in broken(measure("bart", token_ids=tokens))


def test_a_random_segment_of_the_same_document_is_noticed():
    """google-research/bert draws such segments where documents are few."""
    made = make_many("masked_lm")
    assert rates_of("masked_lm")["same_document"].measured == 0.0
    keys = np.broadcast_to(made.rows["document_keys"][:, :1], made.rows["document_keys"].shape)
    # Rows and negatives of one document each, so that no segment is of another one.
    rows, negatives = ({**part, "document_keys": keys} for part in (made.rows, made.negatives))
    rates = measure_rates(made.config, made.case.tokenizer, rows, negatives, made.features)
    assert "same_document" in broken(rates)


def test_pairs_that_are_not_what_their_label_says_are_noticed():
    labels = 1 - make_many("masked_lm").features["next_sentence_labels"]
    rates = measure("masked_lm", next_sentence_labels=labels)
    assert {"same_document", "true_pairs_broken"} <= broken(rates)


def test_an_order_that_is_none_is_noticed():
    """A permutation LM whose order is that of the text, or whose predicted tokens share one."""
    shape = make_many("permutation").features["attention_order"].shape
    order = np.broadcast_to(np.arange(SEQUENCES.length), shape)
    assert broken(measure("permutation", attention_order=order)) == {"permuted"}
    assert "orders_shared" in broken(measure("permutation", attention_order=0 * order))


@pytest.mark.parametrize("name", of_each(["causal", "prefix", "prefix-encoder"]))
def test_labels_that_are_not_what_comes_next_are_noticed(name):
    labels = np.roll(make_many(name).features["label_ids"], 1, axis=1)
    assert broken(measure(name, label_ids=labels)) & {"next_token", "suffix_predicted"}


def test_words_that_are_not_neighbours_are_noticed():
    swapped = make_many("bidirectional").features["backward_label_ids"]
    assert broken(measure("bidirectional", label_ids=swapped)) == {"next_token"}


def test_cut_off_documents_are_noticed():
    for name in ("spans", "bart"):
        ids = make_many(name).features["document_ids"].copy()
        row = np.argmax((ids > 0).sum(axis=1))
        last = np.flatnonzero(ids[row])[-1]
        ids[row, last] = 0
        assert "cut_off" in broken(measure(name, document_ids=ids))


def test_lengths_that_tell_the_label_are_noticed():
    made = make_many("masked_lm")
    lengths = np.stack([(made.features["document_ids"] == number + 1).sum(axis=1) for number in range(4)], 1)
    weights = made.features["next_sentence_weights"] > 0
    labels = (weights & (lengths > np.median(lengths[weights]))).astype(np.int32)
    rates = measure("masked_lm", next_sentence_labels=labels)
    assert "label_told_by_form" in broken(rates)
    assert rates["label_told_by_form"].measured > 0.95


def test_histograms():
    rates = rates_of("spans")
    lengths = rates.histograms["span_lengths"]
    total = sum(length * count for length, count in lengths.items())
    assert rates["mean_span"].measured == pytest.approx(total / sum(lengths.values()))
    assert max(lengths) > 3 and min(lengths) == 1


@pytest.mark.parametrize("draws", [1, 3, 1000])
def test_bounds_hold_for_few_draws_and_many(draws):
    for hits in (0, draws):
        assert by_chance("all or none", hits, [0.5] * draws).ok == (draws < 30)
    assert near("mean", draws, draws, draws, 0.0).ok
