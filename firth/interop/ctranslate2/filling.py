"""Our weights in the layers of CTranslate2's specifications, whose kernels are [outputs, inputs]."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from firth.recipes.models.stack import StackConfig

Array = npt.NDArray[Any]


class Filling:
    """Writes a model's weights into the layers of a specification."""

    def __init__(self, weights: Mapping[str, Array]) -> None:
        self.weights = weights

    def norm(self, spec: Any, path: str) -> None:
        """Fills a norm."""
        if f"{path}/scale" in self.weights:
            spec.gamma = self.weights[f"{path}/scale"]
            return
        spec.gamma, spec.beta = self.weights[f"{path}/gamma"], self.weights[f"{path}/beta"]

    def dense(self, spec: Any, path: str, prefix: str = "") -> None:
        """Fills a dense layer."""
        _fill(spec, self.weights[f"{path}/{prefix}kernel"].T, self.weights.get(f"{path}/{prefix}bias"))

    def block(self, spec: Any, path: str, stack: StackConfig) -> None:
        """Fills a block."""
        self._self_attention(spec.self_attention, f"{path}/attention", stack)
        if f"{path}/cross_attention/kernel" in self.weights:
            self._cross_attention(spec.attention, f"{path}/cross_attention", stack)
        self._feed_forward(spec.ffn, f"{path}/feed_forward")

    def _self_attention(self, spec: Any, path: str, stack: StackConfig) -> None:
        joined, output = spec.linear
        bias = self.weights.get(f"{path}/bias")
        rows = by_keys(self.weights[f"{path}/kernel"].T, stack)
        _fill(joined, rows, None if bias is None else by_keys(bias, stack))
        kernel = self.weights[f"{path}/output/kernel"]
        _fill(output, by_keys(kernel, stack).T, self.weights.get(f"{path}/output/bias"))
        self._around(spec, path, stack)

    def _cross_attention(self, spec: Any, path: str, stack: StackConfig) -> None:
        queries, keys, output = spec.linear
        self.dense(queries, path, "query_")
        self.dense(keys, path)
        self.dense(output, f"{path}/output")
        self._around(spec, path, stack)

    def _around(self, spec: Any, path: str, stack: StackConfig) -> None:
        self.norm(spec.layer_norm, f"{path}_norm")
        if not stack.attention.scaled:
            spec.queries_scale = 1.0

    def _feed_forward(self, spec: Any, path: str) -> None:
        first = {"inner": spec.linear_0}
        if f"{path}/gate_kernel" in self.weights:
            first = {"gate": spec.linear_0, "inner": spec.linear_0_noact}
        for name, layer in first.items():
            # These stand as theirs do, [outputs, inputs].
            _fill(layer, self.weights[f"{path}/{name}_kernel"], self.weights.get(f"{path}/{name}_bias"))
        outer = self.weights[f"{path}/outer_kernel"]
        _fill(spec.linear_1, outer.T, self.weights.get(f"{path}/outer_bias"))
        self.norm(spec.layer_norm, f"{path}_norm")


def by_keys(rows: Array, stack: StackConfig) -> Array:
    """Returns rows whose first ones, those of the queries, have changed places as CTranslate2 groups them.

    Query head h reads key-value head `h % key_value_heads` here, and `h // (heads / key_value_heads)` there.

    Args:
        rows: Array [heads * head_width or more, ...].

    Example:

    >>> shared = StackConfig(width=4, attention={"heads": 4, "key_value_heads": 2})
    >>> by_keys(np.array([0, 1, 2, 3, 8, 9]), shared).tolist()
    [0, 2, 1, 3, 8, 9]
    """
    count, keys = stack.attention.heads * stack.head_width, stack.key_value_heads
    queries = rows[:count].reshape(stack.attention.heads // keys, keys, stack.head_width, *rows.shape[1:])
    return np.concatenate([queries.swapaxes(0, 1).reshape(count, *rows.shape[1:]), rows[count:]])


def _fill(spec: Any, kernel: Array, bias: Array | None) -> None:
    spec.weight = np.ascontiguousarray(kernel)
    if bias is not None:
        spec.bias = bias
