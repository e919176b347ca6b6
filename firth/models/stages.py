"""The weights of a backbone in the order in which they act on what it reads."""

import itertools
from collections.abc import Iterable
from typing import Any, TypeAlias

import keras

# Of each stage, from the inputs to the outputs, what the paths of its weights begin with.
Stages: TypeAlias = tuple[tuple[str, ...], ...]


def stages_of(before: Iterable[keras.layers.Layer | None], *stacks: Any) -> Stages:
    """Returns the stages of a backbone; see `firth.models.backbone.Backbone.stages`.

    Args:
        before: Layers before the first layer of each stack; None for those that a backbone lacks.
        *stacks: Stacks of layers, whose `parts` are names of layers: of what the stack's layers share, then
            of each layer.

    Example:

    >>> from firth.layers import BiLSTM
    >>> stages_of([keras.layers.Dense(4, name="words")], BiLSTM(2, 6, 4, name="encoder"))
    (('words',), ('encoder/layer_0',), ('encoder/layer_1',))
    """
    parts = [[_below(stack, names) for names in stack.parts] for stack in stacks]
    first = [layer.name for layer in before if layer is not None]
    layers = itertools.zip_longest(*(reversed(own) for _, *own in parts), fillvalue=())
    from_the_top = [tuple(itertools.chain(*each)) for each in layers]
    return ((*first, *itertools.chain(*(shared for shared, *_ in parts))), *reversed(from_the_top))


def _below(stack: keras.layers.Layer, names: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"{stack.name}/{name}" for name in names)
