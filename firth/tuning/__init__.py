"""Methods: which weights of a model are trained when it is adapted, and what is added to it."""

from firth.tuning.adapters import AdapterError, load_adapter, load_adapters, load_merged, save_adapter
from firth.tuning.adding import merge
from firth.tuning.counts import TuningCosts, trainable_parameters, tuning_costs
from firth.tuning.groups import TuningError
from firth.tuning.table import METHODS

__all__ = [
    "METHODS",
    "AdapterError",
    "TuningCosts",
    "TuningError",
    "load_adapter",
    "load_adapters",
    "load_merged",
    "merge",
    "save_adapter",
    "trainable_parameters",
    "tuning_costs",
]
