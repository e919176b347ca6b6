"""The layers that a layer or a model is made of."""

from collections.abc import Iterator
from typing import TypeVar

import keras

Kind = TypeVar("Kind")


def inner_layers(layer: keras.layers.Layer, kind: type[Kind]) -> Iterator[Kind]:
    """Yields the layers of a class in a layer or a model, itself included, each once, as they were made.

    Example:

    >>> model = keras.Sequential([keras.layers.Dense(2, name="first"), keras.layers.Dropout(0.1)])
    >>> [each.name for each in inner_layers(model, keras.layers.Dense)]
    ['first']
    """
    yield from _below(layer, kind, set())


def _below(layer: keras.layers.Layer, kind: type[Kind], seen: set[int]) -> Iterator[Kind]:
    seen.add(id(layer))
    if isinstance(layer, kind):
        yield layer
    for value in vars(layer).values():
        for each in value if isinstance(value, list | tuple) else (value,):
            if isinstance(each, keras.layers.Layer) and id(each) not in seen:
                yield from _below(each, kind, seen)
