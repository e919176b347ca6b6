"""Weights of which several devices hold a part each."""

from collections.abc import Iterable

import keras

from firth.layers.elements.layer import inner_layers


class Divided:
    """A layer or a model some of whose weights may be divided among devices; see `divided_weights`."""

    def divided_weights(self) -> Iterable[tuple[keras.Variable | None, int]]:
        """Returns weights of its own, each with the axis of which a device may hold a part; it is built.

        What stands at the same places of these axes is computed together: a head of attention, a cell of the
        layer between, a piece of the vocabulary. None stands for a weight that it was built without.
        """
        raise NotImplementedError


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
        for weight, axis in layer.divided_weights()
        if weight is not None
    }
