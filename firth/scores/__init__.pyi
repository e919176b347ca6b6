from .bootstrap import Interval as Interval
from .calibration import ReliabilityBin as ReliabilityBin, reliability_table as reliability_table
from .collected_scores import (
    SLICES as SLICES,
    Collected as Collected,
    ScoreValue as ScoreValue,
    collect as collect,
    compute as compute,
    compute_difference as compute_difference,
    compute_interval as compute_interval,
    compute_slices as compute_slices,
    score_of as score_of,
    sliced as sliced,
    value_of_places as value_of_places,
)
from .entities import invalid_tags as invalid_tags
from .no_answer import (
    OFFICIAL_THRESHOLD as OFFICIAL_THRESHOLD,
    ScoredAnswer as ScoredAnswer,
    apply_threshold as apply_threshold,
    best_threshold as best_threshold,
)
from .score_table import SCORES as SCORES, Score as Score
from .vectors import TextVectors as TextVectors
