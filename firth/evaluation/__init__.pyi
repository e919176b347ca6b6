from .eval_config import build_eval_config as build_eval_config
from .metrics import metrics_of as metrics_of
from .results import (
    ThresholdResult as ThresholdResult,
    load_evaluation as load_evaluation,
    load_thresholds as load_thresholds,
)
