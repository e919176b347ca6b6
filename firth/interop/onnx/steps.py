"""What a step of a decoder reads and gives besides ids: the keys and values of the tokens before."""

from typing import Any

from keras import ops

from firth.interop.onnx.graph import Port, Tensors
from firth.recipes.models.stack import StackConfig


class Caches:
    """The caches of a stack's layers, which grow by the tokens of a step."""

    def __init__(self, stack: StackConfig, name: str = "cache") -> None:
        self._stack = stack
        self.names = [f"{name}_{layer}" for layer in range(stack.layers)]

    def inputs(self, length: str, meaning: str) -> dict[str, Port]:
        """Returns the inputs, float32 [2, batch, key_value_heads, tokens, head_width] each."""
        axes = (2, "batch", self._stack.key_value_heads, length, self._stack.head_width)
        return dict.fromkeys(self.names, Port(axes, meaning, "float32"))

    def read(self, given: Tensors) -> list[Any]:
        """Returns the caches of all layers, a pair of keys and values each."""
        return [tuple(ops.unstack(given[name], 2)) for name in self.names]

    def named(self, caches: Any, prefix: str = "") -> Tensors:
        """Returns caches by their names."""
        return {f"{prefix}{name}": ops.stack(cache) for name, cache in zip(self.names, caches, strict=True)}


def grown(cache: Any, count: Any) -> Any:
    """Returns a cache with room for the tokens of a step.

    Args:
        cache: Keys and values, a pair of float32 [batch, key_value_heads, tokens, head_width].
    """
    batch, heads, _, width = ops.shape(cache[0])
    room = ops.zeros((batch, heads, count, width), cache[0].dtype)
    return tuple(ops.concatenate([each, room], axis=2) for each in cache)
