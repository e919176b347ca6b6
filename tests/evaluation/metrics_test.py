import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from firth.evaluation.metrics import metrics_of
from firth.features import evaluation_sums
from firth.recipes.goals.goal import Loss

LOSSES = {"mlm": None, "nsp": 2}
METRICS = metrics_of(LOSSES)
SUM_NAMES = evaluation_sums(LOSSES)
SUMS = {
    "mlm_loss_sum": 4 * math.log(6.0),
    "mlm_correct_sum": 1.0,
    "mlm_weight_sum": 4.0,
    "nsp_loss_sum": 1.0,
    "nsp_correct_sum": 3.0,
    "nsp_weight_sum": 5.0,
    "text_loss_sum": 3 * math.log(8.0),
    "text_weight_sum": 3.0,
    "unigram_loss_sum": 3 * math.log(24.0),
    "bytes_sum": 10 * math.log2(8.0),
}


def test_a_split_of_four_predictions():
    values = {name: round(metric(SUMS), 6) for name, metric in METRICS.items()}
    assert values == {
        "mlm_perplexity": 6.0,
        "mlm_accuracy": 0.25,
        "nsp_accuracy": 0.6,
        "text_perplexity": 8.0,
        "unigram_perplexity": 24.0,
        "perplexity_over_unigram": round(1 / 3, 6),
        "bits_per_byte": 0.3,
    }


def test_without_predictions_each_metric_is_as_bad_as_it_can_be():
    nothing = dict.fromkeys(SUM_NAMES, 0.0)
    assert {name: metric(nothing) for name, metric in METRICS.items()} == {
        "mlm_perplexity": math.inf,
        "mlm_accuracy": 0.0,
        "nsp_accuracy": 0.0,
        "text_perplexity": math.inf,
        "unigram_perplexity": math.inf,
        "perplexity_over_unigram": math.inf,
        "bits_per_byte": math.inf,
    }


def test_a_number_has_a_squared_error_and_no_accuracy():
    loss = Loss("value", "squared error", classes=1)
    metrics = metrics_of({"value": loss.classes})
    assert tuple(metrics) == loss.metric_names == ("value_squared_error",)
    assert loss.guessing is None
    sums = dict.fromkeys(evaluation_sums({"value": 1}), 0.0)
    assert metrics["value_squared_error"](sums) == math.inf
    sums |= {"value_loss_sum": 6.0, "value_weight_sum": 4.0}
    assert metrics["value_squared_error"](sums) == 1.5


def test_perplexities_that_overflow_still_have_a_ratio():
    sums = {**SUMS, "text_loss_sum": 4e5, "unigram_loss_sum": 4e5 + 3 * math.log(2.0)}
    assert METRICS["text_perplexity"](sums) == math.inf
    assert METRICS["perplexity_over_unigram"](sums) == pytest.approx(0.5)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(data=st.data())
def test_metrics_do_not_depend_on_how_the_split_is_cut(data):
    number = st.floats(0, 50, width=32)
    examples = np.array(data.draw(st.lists(st.tuples(*[number] * len(SUM_NAMES)), min_size=1, max_size=30)))
    cut = data.draw(st.integers(1, len(examples)))
    batches = [examples[start : start + cut].sum(axis=0) for start in range(0, len(examples), cut)]
    whole, joined = (dict(zip(SUM_NAMES, np.sum(each, axis=0))) for each in (examples, batches))
    for name, metric in METRICS.items():
        assert metric(joined) == pytest.approx(metric(whole), rel=1e-9), name


def test_an_average_over_batches_would_be_another_figure():
    few = {**SUMS, "mlm_loss_sum": math.log(2.0), "mlm_weight_sum": 1.0}
    whole = {name: SUMS[name] + few[name] for name in SUM_NAMES}
    perplexity = METRICS["mlm_perplexity"]
    assert perplexity(whole) == pytest.approx((6.0**4 * 2.0) ** (1 / 5))
    assert (perplexity(SUMS) + perplexity(few)) / 2 == pytest.approx(4.0)
