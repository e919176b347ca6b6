"""Prefixes: keys and values before those of the tokens, in each layer."""

import contextlib
from collections.abc import Callable
from typing import Any

import keras
from keras import ops

from firth.layers.elements.extensible_layer import Addition, Place, extensible_layers
from firth.layers.elements.seeds import normal, seed_generator, uniform
from firth.layers.elements.types import Seed, Shape, Tensor
from firth.models.additions.addition_places import add_at_places, keywords_of, places_of, require_fit
from firth.models.backbone_with_heads import BackboneWithHeads
from firth.recipes.tuning.prompts import PrefixMethod


class Prefix(Addition):
    """Keys and values before those of the tokens of an attention layer.

    Li and Liang 2021, "Prefix-Tuning: Optimizing Continuous Prompts for Generation", section 4.2. They start
    from a normal of stddev 1, as in peft.

    Example:

    >>> import numpy as np
    >>> prefix, states = Prefix(heads=2, length=3, head_width=4), np.ones((1, 2, 5, 4))
    >>> [tuple(each.shape) for each in prefix(states, states)]
    [(1, 2, 8, 4), (1, 2, 8, 4)]
    """

    def __init__(self, heads: int, length: int, head_width: int, seed: Seed = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._generator = seed_generator(seed)

    def build(self, keys_shape: Shape) -> None:
        """Creates `keys_values` [2, heads, length, head_width]."""
        start = normal(1.0, self._generator, truncated=False)
        shape = (2, self.heads, self.length, self.head_width)
        self.keys_values = self.add_weight(name="keys_values", shape=shape, initializer=start)

    def call(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Returns the keys and the values with the prefix, [batch, heads, length + keys, head_width] each.

        Args:
            keys: Float tensor [batch, heads, keys, head_width].
            values: Float tensor [batch, heads, keys, head_width].
        """
        shape = (ops.shape(keys)[0], self.heads, self.length, self.head_width)
        own = ops.cast(self.own(), keys.dtype)
        before = [ops.broadcast_to(ops.expand_dims(each, 0), shape) for each in (own[0], own[1])]
        return ops.concatenate([before[0], keys], axis=2), ops.concatenate([before[1], values], axis=2)

    def own(self) -> Tensor:
        """Returns the keys and the values of the prefix, a float tensor [2, heads, length, head_width]."""
        return ops.convert_to_tensor(self.keys_values)

    def take(self, other: Any) -> None:
        """Assigns the keys and values of a prefix that was trained."""
        self.keys_values.assign(other.own())


class ReparameterisedPrefix(Prefix):
    """Keys and values before those of the tokens, which a network shared by all layers makes.

    Example: see `tests/tuning/additions_prompts_parity_test.py`.
    """

    def build(self, keys_shape: Shape) -> None:
        """Creates no weights; `made_by` sets the function that makes the keys and values."""

    def made_by(self, make: Callable[[], Tensor]) -> "ReparameterisedPrefix":
        """Returns the layer, whose keys and values a function makes.

        Args:
            make: Function to a float tensor [length, 2 * heads * head_width].
        """
        self._make = make
        return self

    def own(self) -> Tensor:
        """Returns the keys and the values of the prefix, a float tensor [2, heads, length, head_width]."""
        made = ops.reshape(self._make(), (self.length, 2, self.heads, self.head_width))
        return ops.transpose(made, (1, 2, 0, 3))


class PrefixEncoder(Addition):
    """The network that makes the keys and values of all layers: embedding, dense, tanh, dense.

    Li and Liang 2021, section 4.3. Its layout is that of peft's `PrefixEncoder`: the output of the second
    dense layer holds the keys and then the values of each layer, one after another. Vectors start from a
    normal of stddev 1, kernels and biases uniform within one over the root of the inputs, as in peft.

    Example:

    >>> encoder = PrefixEncoder(layers=2, length=3, width=4, hidden=5)
    >>> encoder.build()
    >>> tuple(encoder.of_layer(1).shape)
    (3, 8)
    """

    def __init__(
        self, layers: int, length: int, width: int, hidden: int, seed: Seed = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.layer_count = layers
        self._generator = seed_generator(seed)

    def build(self, states_shape: Shape | None = None) -> None:
        """Creates `embedding` [length, width], and kernels and biases of `first` and `second`."""
        of_all = 2 * self.layer_count * self.width
        start = normal(1.0, self._generator, truncated=False)
        self.embedding = self.add_weight(
            name="embedding", shape=(self.length, self.width), initializer=start, autocast=False
        )
        self.first_kernel = self._uniform("first_kernel", (self.width, self.hidden), self.width)
        self.first_bias = self._uniform("first_bias", (self.hidden,), self.width)
        self.second_kernel = self._uniform("second_kernel", (self.hidden, of_all), self.hidden)
        self.second_bias = self._uniform("second_bias", (of_all,), self.hidden)

    def _uniform(self, name: str, shape: Shape, inputs: int) -> keras.Variable:
        start = uniform(inputs**-0.5, self._generator)
        return self.add_weight(name=name, shape=shape, initializer=start, autocast=False)

    def of_layer(self, layer: int) -> Tensor:
        """Returns the keys and the values of a layer, a float tensor [length, 2 * width].

        It is float32 under mixed precision too, so that the kept values are the trained ones.
        """
        hidden = ops.tanh(ops.matmul(self.embedding, self.first_kernel) + self.first_bias)
        own = slice(2 * layer * self.width, 2 * (layer + 1) * self.width)
        return ops.matmul(hidden, self.second_kernel[:, own]) + self.second_bias[own]


def add_prefixes(model: BackboneWithHeads, method: PrefixMethod) -> None:
    """Adds keys and values, or a network that makes them, to each layer.

    Raises:
        TuningError: for a backbone whose attention takes no prefix.
    """
    require_fit(model, method)
    places = [place for place in places_of(model) if place.name == "keys_values"]
    if (encoder := model.backbone.own_encoder) is not None and not method.encoder:
        of_encoder = {id(layer) for layer in extensible_layers(encoder)}
        places = [place for place in places if id(place.layer) not in of_encoder]
    if method.hidden_width:
        _add_reparameterised(model, method, places)
        return

    def make(place: Place) -> Prefix:
        return Prefix(*_shape_of(place, method), **keywords_of(model, method))

    add_at_places(model, method.kind, places, make)


def _add_reparameterised(model: BackboneWithHeads, method: PrefixMethod, places: list[Place]) -> None:
    encoder = PrefixEncoder(
        len(places),
        method.length,
        places[0].outputs // 2,
        method.hidden_width,
        **keywords_of(model, method),
    )
    numbers = {place.path: number for number, place in enumerate(places)}

    def make(place: Place) -> ReparameterisedPrefix:
        # A generator of its own would have a seed that differs from run to run, which checkpoints keep.
        prefix = ReparameterisedPrefix(*_shape_of(place, method), **keywords_of(model, method))
        return prefix.made_by(lambda: encoder.of_layer(numbers[place.path]))

    add_at_places(model, method.kind, places, make)
    with contextlib.ExitStack() as scopes:
        for part in (model.name, model.added.name):
            scopes.enter_context(keras.name_scope(part))
        encoder.build()
    model.added.held.append(encoder)


def _shape_of(place: Place, method: PrefixMethod) -> tuple[int, int, int]:
    attention: Any = place.layer
    return attention.key_value_heads, method.length, attention.head_width
