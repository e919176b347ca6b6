"""Evaluation: exact metrics from per-example sums, and how TFMA computes and judges them.

Names load on first use: `metrics` is plain Python, the others load TFMA.
"""

from typing import TYPE_CHECKING

from firth.lazy import lazy_names

if TYPE_CHECKING:
    from firth.evaluation.eval_config import build_eval_config
    from firth.evaluation.metrics import metrics_of
    from firth.evaluation.results import ThresholdResult, load_evaluation, load_thresholds

_HOMES = {
    "metrics_of": "metrics",
    "ThresholdResult": "results",
    "build_eval_config": "eval_config",
    "load_evaluation": "results",
    "load_thresholds": "results",
}

__all__ = ["ThresholdResult", "build_eval_config", "load_evaluation", "load_thresholds", "metrics_of"]

__getattr__ = lazy_names(__name__, _HOMES)
