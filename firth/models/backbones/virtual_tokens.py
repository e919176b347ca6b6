"""A place before the embedded tokens of each row, where vectors that are learned may stand."""

from collections.abc import Mapping
from typing import Any

from keras import ops

from firth import features as names
from firth.layers.elements.extensible import ExtensibleLayer, Place
from firth.layers.elements.types import Shape, Tensor


class VirtualTokens(ExtensibleLayer):
    """Puts virtual tokens before each row, and takes their states away; at first there are no such tokens.

    An addition to its place, `prompt`, is called with the features of a batch and returns a float tensor
    [batch or 1, virtual tokens, width]; its attribute `length` says their number. A virtual token is of the
    row's document, so a row should hold one, and of the first segment. Virtual tokens have the first
    positions, and those of the row come after them. Where rows have an order, virtual tokens come first.

    Example:

    >>> import numpy as np
    >>> VirtualTokens(width=4).length
    0
    """

    def __init__(self, width: int, **kwargs: Any) -> None:
        super().__init__(autocast=False, **kwargs)

    def build(self, hidden_shape: Shape) -> None:
        """Creates no weights."""

    def places(self) -> list[Place]:
        """Returns the place of the virtual tokens, `prompt`."""
        return [Place(self, "prompt", self.width, self.width)]

    @property
    def length(self) -> int:
        """Number of virtual tokens."""
        prompt = self._additions.get("prompt")
        return 0 if prompt is None else prompt.length

    def vectors(self, features: Mapping[str, Tensor]) -> Tensor:
        """Returns the virtual tokens of each row, a float tensor [batch, virtual tokens, width]."""
        vectors = self._additions["prompt"](features)
        batch = ops.shape(features[names.DOCUMENT_IDS])[0]
        return ops.broadcast_to(vectors, (batch, self.length, self.width))

    def before(self, features: Mapping[str, Tensor]) -> Mapping[str, Tensor]:
        """Returns features in which documents, positions, segments and orders are also of the virtual tokens."""
        if not self.length:
            return features
        documents = features[names.DOCUMENT_IDS]
        nothing = ops.zeros((ops.shape(documents)[0], self.length), documents.dtype)
        positions = features.get(names.POSITION_IDS)
        order = features.get(names.ATTENTION_ORDER)
        added = {names.DOCUMENT_IDS: (ops.max(documents, axis=1, keepdims=True) + nothing, documents)}
        if positions is not None:
            added[names.POSITION_IDS] = (self.positions(nothing), positions + self.length)
        if order is not None:
            added[names.ATTENTION_ORDER] = (ops.min(order, axis=1, keepdims=True) - 1 + nothing, order)
        if (segments := features.get(names.SEGMENT_IDS)) is not None:
            added[names.SEGMENT_IDS] = (nothing, segments)
        joined = {
            name: ops.concatenate([ops.cast(first, after.dtype), after], axis=1)
            for name, (first, after) in added.items()
        }
        return {**features, **joined}

    def positions(self, like: Tensor) -> Tensor:
        """Returns the positions of the virtual tokens, int [batch, virtual tokens]."""
        return like + ops.cast(ops.arange(self.length), like.dtype)

    def prepended(self, tokens: Tensor, features: Mapping[str, Tensor]) -> Tensor:
        """Returns embedded tokens with the virtual ones before them, [batch, virtual tokens + length, width].

        Args:
            tokens: Float tensor [batch, length, width].
        """
        if not self.length:
            return tokens
        return ops.concatenate([ops.cast(self.vectors(features), tokens.dtype), tokens], axis=1)

    def without(self, states: Tensor) -> Tensor:
        """Returns the states of the row's own tokens, [batch, length, width].

        Args:
            states: Float tensor [batch, virtual tokens + length, width].
        """
        return states[:, self.length :] if self.length else states
