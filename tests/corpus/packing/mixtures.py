"""Mixtures for the tests of mixing."""

from firth.recipes.corpus.mixture import ProportionalMixture, WeightedMixture

WEIGHTS = {"web": 3.0, "books": 2.0, "code": 0.5, "old": 0.0}


def weighted(weights=WEIGHTS, **settings) -> WeightedMixture:
    return WeightedMixture(kind="weights", weights=weights, **settings)


def sized(**settings) -> ProportionalMixture:
    return ProportionalMixture(kind="proportional", **settings)


TWO = {"web": 3.0, "books": 1.0}
