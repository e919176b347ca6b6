import pytest

from firth.recipes import Evaluation, MaskedLM, Threshold
from firth.reports.threshold_results import threshold_results


@pytest.mark.parametrize("lower, upper, value, kept", [
    (None, 1.0, 0.5, True), (None, 1.0, 1.0, True), (None, 1.0, 1.5, False),
    (0.2, None, 0.1, False), (0.2, None, 0.2, True), (0.2, 0.4, 0.3, True), (0.2, 0.4, 0.5, False),
    (None, 1.0, None, False), (None, 1.0, float("nan"), False), (None, 1.0, float("inf"), False),
])  # fmt: skip
def test_bounds(lower, upper, value, kept):
    asked = Evaluation(thresholds=(Threshold(metric="mlm_accuracy", lower_bound=lower, upper_bound=upper),))
    metrics = {} if value is None else {"mlm_accuracy": value}
    (result,) = threshold_results(asked, MaskedLM(), metrics)
    assert result.kept is kept
