"""Evaluation: exact metrics from per-example sums, and how TFMA computes and judges them.

Names load on first use: `metrics` is plain Python, the others load TFMA.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from firth.evaluation.eval_config import build_eval_config
    from firth.evaluation.metrics import METRICS
    from firth.evaluation.results import ThresholdResult, load_evaluation, load_thresholds

_HOMES = {
    "METRICS": "metrics",
    "ThresholdResult": "results",
    "build_eval_config": "eval_config",
    "load_evaluation": "results",
    "load_thresholds": "results",
}

__all__ = ["METRICS", "ThresholdResult", "build_eval_config", "load_evaluation", "load_thresholds"]


def __getattr__(name: str):
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
