"""KerasTuner's algorithms, made of a recipe's search."""

import functools
import itertools
from collections.abc import Callable
from typing import Any

import keras_tuner
from keras_tuner import oracles
from keras_tuner.engine.trial import TrialStatus

from firth.recipes.run.search import HYPERBAND_FACTOR, Search

_Oracle = functools.partial[keras_tuner.Oracle]
# More than any number of rounds gives.
_MOST = 10_000


class GridOracle(keras_tuner.Oracle):
    """Takes all values of a space one after another, the last key's first.

    KerasTuner's own oracle does not keep which combination comes next, so that a search that was killed
    between two trials would end with those that are done. Here it follows from the number of trials.
    """

    def populate_space(self, trial_id: str) -> dict[str, Any]:
        """Returns the values of the next trial, under `values`, and its `status`."""
        space = self.get_space().space
        each = [[key.default, *(value for value in key.values if value != key.default)] for key in space]
        found = next(itertools.islice(itertools.product(*each), len(self.start_order), None), None)
        if found is None:
            return {"status": TrialStatus.STOPPED}
        return {
            "status": TrialStatus.RUNNING,
            "values": {key.name: value for key, value in zip(space, found, strict=True)},
        }


class HyperbandOracle(oracles.HyperbandOracle):
    """KerasTuner's Hyperband, with a number of trials, which TFX's Tuner asks for."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.max_trials = _MOST


def oracle_of(search: Search, seed: int) -> _Oracle:
    """Returns the class of a search's oracle, with the arguments that differ among algorithms.

    Example:

    >>> search = Search.of({"space": {"seed": {"kind": "choices", "values": [1, 2]}}, "algorithm": "grid"})
    >>> oracle_of(search, seed=7).keywords
    {'max_trials': 10}
    """
    return _MAKE[search.algorithm](search, seed)


def _random(search: Search, seed: int) -> _Oracle:
    return functools.partial(oracles.RandomSearchOracle, max_trials=search.most_trials, seed=seed)


def _grid(search: Search, seed: int) -> _Oracle:
    return functools.partial(GridOracle, max_trials=search.most_trials)


def _bayesian(search: Search, seed: int) -> _Oracle:
    return functools.partial(oracles.BayesianOptimizationOracle, max_trials=search.most_trials, seed=seed)


def _hyperband(search: Search, seed: int) -> _Oracle:
    return functools.partial(HyperbandOracle, max_epochs=search.units, factor=HYPERBAND_FACTOR, seed=seed)


_MAKE: dict[str, Callable[[Search, int], _Oracle]] = {
    "random": _random,
    "grid": _grid,
    "bayesian": _bayesian,
    "hyperband": _hyperband,
}
