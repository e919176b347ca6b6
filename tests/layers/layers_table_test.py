"""The table of the checklist holds every layer there is."""

import keras

import firth.layers
from tests.layers.table import CASES


def test_every_exported_layer_is_in_the_table():
    exported = {
        name
        for name in firth.layers.__all__
        if isinstance(getattr(firth.layers, name), type)
        and issubclass(getattr(firth.layers, name), keras.layers.Layer)
    }
    assert exported == {case.make.__name__ for case in CASES.values()}
