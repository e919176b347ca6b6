"""TFX's own Evaluator on an exported model, against the same sums in NumPy."""

import os

import numpy as np
import pytest
import tensorflow as tf

from firth.evaluation import build_eval_config, load_evaluation, load_thresholds
from firth.evaluation.bounds import Bounds
from firth.evaluation.metrics import metrics_of
from firth.recipes import Evaluation, Threshold
from tests.evaluation.evaluator import run_evaluator
from tests.exported_model import RECIPE, examples_artifact, exported_model, loaded_model

METRICS = metrics_of({"mlm": None, "nsp": 2})


@pytest.fixture(scope="module")
def examples(tmp_path_factory):
    return examples_artifact(str(tmp_path_factory.mktemp("examples")))


@pytest.fixture(scope="module")
def expected():
    """The metrics of each slice, summed in float64 over rows that were asked one by one."""
    exported = exported_model()
    evaluate = loaded_model().signatures["evaluate"]
    rows = [evaluate(examples=tf.constant([row])) for row in exported.rows]
    sources = np.array(exported.sources)
    slices = {
        "overall": sources == sources,
        "source=books": sources == b"books",
        "source=web": sources == b"web",
    }
    metrics = {}
    for name, members in slices.items():
        sums = {
            key: sum(float(row[key][0]) for row, member in zip(rows, members) if member) for key in rows[0]
        }
        metrics[name] = {
            metric: function(sums) for metric, function in metrics_of({"mlm": None, "nsp": 2}).items()
        }
        metrics[name]["row_count"] = float(members.sum())
    return metrics


def test_metrics_equal_the_sums_in_numpy_and_kept_thresholds_bless(tmp_path, examples, expected):
    slices = [expected[name]["mlm_perplexity"] for name in ("source=books", "source=web")]
    # Between the split's value and the worse slice's: thresholds hold for the whole split.
    bound = (expected["overall"]["mlm_perplexity"] + max(slices)) / 2
    threshold = Threshold(metric="mlm_perplexity", upper_bound=bound)
    config = build_eval_config(Evaluation(thresholds=(threshold,)), RECIPE.goal)
    model_uri = os.path.dirname(exported_model().directory)
    evaluation, blessing = run_evaluator(tmp_path, examples, model_uri, config)
    assert blessing.get_int_custom_property("blessed") == 1
    found = load_evaluation(evaluation.uri)
    assert list(found) == ["overall", "source=books", "source=web"]
    for name, metrics in expected.items():
        assert found[name] == pytest.approx(metrics, rel=1e-6), name
    (result,) = load_thresholds(evaluation.uri)
    assert (result.metric, result.bounds) == ("mlm_perplexity", Bounds(upper=bound))
    assert result.ok
    assert result.value == pytest.approx(expected["overall"]["mlm_perplexity"], rel=1e-6)
