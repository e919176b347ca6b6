import numpy as np
import pytest

from firth.reports.task_scores import scores_of_seeds


def test_what_scores_of_seeds_are_together():
    values = np.random.default_rng(3).uniform(size=5)
    metrics = {seed: {"f1": float(value), "accuracy": 1.0} for seed, value in enumerate(values)}
    f1, accuracy = scores_of_seeds(metrics, ["f1", "accuracy", "matthews"])
    assert (f1.median, f1.deviation) == pytest.approx((np.median(values), np.std(values, ddof=1)))
    assert (f1.best_seed, f1.best) == (int(values.argmax()), values.max())
    assert accuracy.deviation == 0 and accuracy.best_seed == 0


def test_the_best_of_an_error_is_the_least():
    found, *_ = scores_of_seeds({7: {"brier": 0.3}, 8: {"brier": 0.2}}, ["brier"])
    assert found.best_seed == 8 and found.as_json()["values"] == {"7": 0.3, "8": 0.2}


def test_one_seed_has_no_deviation():
    (found,) = scores_of_seeds({7: {"f1": 0.3}}, ["f1"])
    assert found.text == "f1 over 1 seed: median 0.300, best 0.300 (seed 7)"
