"""Published scores as pure functions from references and predictions to floats, in the table `SCORES`.

Their libraries are imported on first use.
"""

from firth.scores.bootstrap import Interval
from firth.scores.calibration import ReliabilityBin, reliability_table
from firth.scores.collected import (
    Collected,
    ScoreValue,
    collect,
    compute,
    compute_difference,
    compute_interval,
    score_of,
)
from firth.scores.entities import invalid_tags
from firth.scores.held_out_threshold import ScoredAnswer
from firth.scores.no_answer import OFFICIAL_THRESHOLD, apply_threshold, best_threshold
from firth.scores.score import Score
from firth.scores.slices import SLICES, compute_slices, sliced
from firth.scores.table import SCORES
from firth.scores.vectors import TextVectors

__all__ = [
    "OFFICIAL_THRESHOLD",
    "SCORES",
    "SLICES",
    "Collected",
    "Interval",
    "ReliabilityBin",
    "Score",
    "ScoreValue",
    "ScoredAnswer",
    "TextVectors",
    "apply_threshold",
    "best_threshold",
    "collect",
    "compute",
    "compute_difference",
    "compute_interval",
    "compute_slices",
    "invalid_tags",
    "reliability_table",
    "score_of",
    "sliced",
]
