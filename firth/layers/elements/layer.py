"""Base of all layers, whose arguments are its attributes and its config; masks, and divided weights."""

import inspect
import operator
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, TypeVar

import keras
import numpy as np
from keras import ops

from firth.layers.elements.seeds import plain_seed
from firth.layers.elements.types import Shape, Tensor


class Layer(keras.layers.Layer):
    """A Keras layer whose constructor's arguments are its attributes and its config.

    Numbers, flags, names and None are attributes before `__init__` begins, which may resolve them; `seed` is
    an int or None, as a config keeps it. By default the output has the input's shape and its mask.

    Example:

    >>> class Scale(Layer):
    ...     def __init__(self, factor=2.0, **kwargs):
    ...         super().__init__(**kwargs)
    >>> Scale(3.0).factor, Scale.from_config(Scale(3.0).get_config()).factor
    (3.0, 3.0)
    """

    # Whether the first two axes of the output are those of the first input, so that its mask is handed on.
    keeps_places: ClassVar[bool] = True
    _arguments: dict[str, Any]

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """Keeps the arguments, each by its name."""
        layer = super().__new__(cls, *args, **kwargs)
        try:
            bound = inspect.signature(cls.__init__).bind(layer, *args, **kwargs)
        except TypeError:  # Which `__init__` raises with more words.
            return layer
        bound.apply_defaults()
        _, *own = bound.arguments.items()
        arguments = {
            name: value.item() if isinstance(value, np.generic) else value
            for name, value in own
            if name != "kwargs"
        }
        if "seed" in arguments:
            arguments["seed"] = plain_seed(arguments["seed"])
        # Past Keras, which would track its values.
        vars(layer)["_arguments"] = arguments
        for name, value in arguments.items():
            # Keras takes `layers` of a layer for the layers in it.
            if name != "layers" and (value is None or isinstance(value, bool | int | float | str)):
                setattr(layer, name, value)
        return layer

    def compute_output_shape(self, hidden_shape: Shape) -> Shape:
        """The shape of the input.

        Args:
            hidden_shape: Shape of the first input, (..., width); None on an axis of unknown length.

        Raises:
            NotImplementedError: if the layer was built without a shape.
        """
        if hidden_shape is None:
            raise NotImplementedError(f"{type(self).__name__}: the shape of the input is not known")
        return tuple(hidden_shape)

    def compute_mask(self, inputs: Any, previous_mask: Any) -> Any:
        """The mask of the first input, where the output has its places; otherwise None.

        Args:
            inputs: First input; not read.
            previous_mask: Its mask.
        """
        return previous_mask if self.keeps_places else None

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments, recipe types among them as plain values."""
        config = super().get_config()
        for name, value in self._arguments.items():
            read = vars(self).get(name)
            config[name] = _plain(read if hasattr(read, "model_dump") else value)
        return config


class Float32Layer(Layer):
    """A layer whose output is float32 under every dtype policy."""

    def compute_output_spec(self, *inputs: Tensor, **named: Tensor) -> keras.KerasTensor:
        """The shape of `compute_output_shape`, and float32.

        Args:
            *inputs: Inputs of the call, of which only the shapes are read.
            **named: Those that were given by name.
        """
        known = inspect.signature(self.compute_output_shape).parameters
        given = {f"{name}_shape": value for name, value in named.items() if value is not None}
        shapes = {name: value.shape for name, value in given.items() if name in known}
        shape_of: Any = self.compute_output_shape
        positional = (None if value is None else value.shape for value in inputs)
        return keras.KerasTensor(shape_of(*positional, **shapes), dtype="float32")


class Divided:
    """A layer or a model some of whose weights may be divided among devices.

    Values at the same place of their axes are computed together: a head of attention, a cell of the layer
    between, a piece of the vocabulary.
    """

    divided_weights: ClassVar[Mapping[str, int]]
    """Axes of which a device may hold a part, by the name of the attribute that holds the weight or None."""


Kind = TypeVar("Kind")


def document_ids_of(hidden: Tensor, document_ids: Tensor | None, mask: Tensor | None) -> Tensor:
    """Returns the documents of tokens, int32 [batch, length], 0 on padding.

    Args:
        hidden: Tensor [batch, length, ...].
        document_ids: Int tensor [batch, length]; None for rows of one document.
        mask: Bool tensor [batch, length], False on padding, as Keras hands it on from an embedding with
            `mask_zero`; None for no further padding.

    Example:

    >>> import numpy as np
    >>> hidden, mask = np.ones((1, 3, 4)), np.array([[True, True, False]])
    >>> np.array(document_ids_of(hidden, None, mask)).tolist()
    [[1, 1, 0]]
    >>> np.array(document_ids_of(hidden, np.array([[1, 2, 2]]), mask)).tolist()
    [[1, 2, 0]]
    """
    if document_ids is None:
        return ops.ones(ops.shape(hidden)[:2], "int32") if mask is None else ops.cast(mask, "int32")
    return document_ids if mask is None else ops.where(mask, document_ids, 0)


def with_mask(bias: Any, mask: Tensor | None) -> Any:
    """Returns a bias of attention that also hides the keys that a mask hides.

    Args:
        bias: Float32 tensor [batch or 1, heads or 1, length, keys], or None.
        mask: Bool tensor [batch, keys], False on hidden keys; None to hide nothing more.

    Example:

    >>> import numpy as np
    >>> with_mask(None, None) is None, np.array(with_mask(None, np.array([[True, False]]))).tolist()
    (True, [[[[0.0, -1000000000.0]]]])
    """
    if mask is None:
        return bias
    hidden = ops.where(ops.expand_dims(mask, (1, 2)), 0.0, -1e9)
    if bias is None:
        return hidden
    if not hasattr(bias, "shape"):
        raise ValueError(f"a mask cannot be joined with a bias of the type {type(bias).__name__}")
    return ops.add(bias, hidden)


def mask_of(mask: Tensor | None, handed_on: Tensor | None) -> Tensor | None:
    """Returns the mask that a call is given, or the one that Keras hands on next to it.

    Keras hands the mask of the only tensor of a call on as `mask`, and those of several as `<name>_mask`.

    Example:

    >>> mask_of(None, None) is None, mask_of(None, [True]), mask_of([False], [True])
    (True, [True], [False])
    """
    return handed_on if mask is None else mask


def without_mask(states: Tensor, *masks: Tensor | None) -> Tensor:
    """Returns states without the Keras mask that they may have, which a layer has read already.

    Args:
        states: Float tensor.
        *masks: Masks that Keras may have handed on; if all are None, the states have no mask.

    Example:

    >>> import numpy as np
    >>> states = np.ones((1, 2, 3))
    >>> without_mask(states, None) is states
    True
    """
    return states if all(mask is None for mask in masks) else ops.add(states, 0)


def inner_layers(layer: keras.layers.Layer, kind: type[Kind]) -> Iterator[Kind]:
    """Yields the layers of a class in a layer or a model, itself included, each once, as they were made.

    Example:

    >>> model = keras.Sequential([keras.layers.Dense(2, name="first"), keras.layers.Dropout(0.1)])
    >>> [each.name for each in inner_layers(model, keras.layers.Dense)]
    ['first']
    """
    yield from _below(layer, kind, set())


def divided_axes(model: keras.layers.Layer) -> dict[str, tuple[int, int]]:
    """Returns the weights of a model that may be divided among devices, by path: axis and number of axes.

    Example:

    >>> from firth.layers import FeedForward
    >>> layer = FeedForward(width=4, name="feed_forward")
    >>> layer.build((None, None, 4))
    >>> divided_axes(layer)["feed_forward/inner_kernel"]
    (0, 2)
    """
    return {
        weight.path: (axis, len(weight.shape))
        for layer in inner_layers(model, Divided)
        for name, axis in layer.divided_weights.items()
        if (weight := operator.attrgetter(name)(layer)) is not None
    }


def _plain(value: Any) -> Any:
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if isinstance(value, Mapping):
        return {name: _plain(part) for name, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, list | tuple) else value


def _below(layer: keras.layers.Layer, kind: type[Kind], seen: set[int]) -> Iterator[Kind]:
    seen.add(id(layer))
    if isinstance(layer, kind):
        yield layer
    for value in vars(layer).values():
        for each in value if isinstance(value, list | tuple) else (value,):
            if isinstance(each, keras.layers.Layer) and id(each) not in seen:
                yield from _below(each, kind, seen)
