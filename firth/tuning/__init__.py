"""Methods: what of a model is trained when it is adapted, and what is added to it."""

from firth.tuning.counts import trainable_parameters
from firth.tuning.groups import TuningError
from firth.tuning.table import METHODS

__all__ = ["METHODS", "TuningError", "trainable_parameters"]
