"""What every layer of ours is: its constructor's arguments are its attributes and its config."""

import inspect
from collections.abc import Mapping
from typing import Any, ClassVar

import keras
import numpy as np

from firth.layers.elements.seeds import plain_seed
from firth.layers.elements.types import Shape, Tensor


class Layer(keras.layers.Layer):
    """A Keras layer whose constructor's signature says what its attributes and its config are.

    Numbers, flags, names and None are attributes before `__init__` begins, which may resolve them; `seed` is
    an int or None, as a config keeps it. Unless a subclass says otherwise, the output has the input's shape,
    and its mask.

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
        # Past Keras, which would track what it holds.
        vars(layer)["_arguments"] = arguments
        for name, value in arguments.items():
            # Keras takes `layers` of a layer for the layers in it.
            if name != "layers" and (value is None or isinstance(value, bool | int | float | str)):
                setattr(layer, name, value)
        return layer

    def compute_output_shape(self, hidden_shape: Shape | None = None, **shapes: Shape) -> Shape:
        """The shape of the input.

        Args:
            hidden_shape: Shape of the first input, (..., width); None on an axis of unknown length.
            **shapes: The same by the name that `build` has for it.

        Raises:
            NotImplementedError: if no shape is known.
        """
        found = hidden_shape if hidden_shape is not None else next(iter(shapes.values()), None)
        if found is None:
            raise NotImplementedError(f"{type(self).__name__}: the shape of the input is not known")
        return tuple(found)

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
        positional = (None if value is None else value.shape for value in inputs)
        return keras.KerasTensor(self.compute_output_shape(*positional, **shapes), dtype="float32")


def _plain(value: Any) -> Any:
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if isinstance(value, Mapping):
        return {name: _plain(part) for name, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, list | tuple) else value
