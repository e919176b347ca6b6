"""Specifications of CTranslate2 for our models."""

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from firth.interop.errors import import_extra
from firth.models.backbone_with_heads import BackboneWithHeads
from firth.models.bundle import weights_by_path
from firth.recipes.models.stack import StackConfig

_ACTIVATIONS = {"gelu": "GELU", "gelu_approximate": "GELUTanh", "relu": "RELU", "silu": "SWISH"}


class Specifier:
    """A model that becomes a specification.

    Args:
        model: Model of a bundle, in float32.
    """

    def __init__(self, model: BackboneWithHeads, left_out: Collection[str] = ()) -> None:
        self.config: Any = model.backbone.config
        own = weights_by_path(model)
        self.weights = {path: np.asarray(each) for path, each in own.items() if path not in left_out}
        self.filling = Filling(self.weights)
        self.common, self.library = import_extra(
            "ctranslate2", "ctranslate2.specs.common_spec", "ctranslate2.specs.transformer_spec"
        )

    def encoder(self, stack: StackConfig, embeddings: str, **options: Any) -> Any:
        """Returns the specification of an encoder, filled."""
        segments = self.weights.get(f"{embeddings}/segment/table")
        if segments is not None:
            options |= {"num_source_embeddings": 2, "embeddings_merge": self.common.EmbeddingsMerge.ADD}
        spec = self.library.TransformerEncoderSpec(**self._arguments(stack, embeddings), **options)
        spec.embeddings[0].weight = self.weights["backbone/token_embedding/table"]
        if segments is not None:
            spec.embeddings[1].weight = segments
        return self._filled(spec, stack, "backbone/encoder", embeddings)

    def decoder(self, stack: StackConfig, embeddings: str, **options: Any) -> Any:
        """Returns the specification of a decoder with its logits, filled."""
        spec = self.library.TransformerDecoderSpec(**self._arguments(stack, embeddings), **options)
        table = spec.embeddings.weight = self.weights["backbone/token_embedding/table"]
        spec.projection.weight = self.weights.get("heads/table", table)
        if self.config.output_scale != 1.0:
            spec.scale_outputs = float(self.config.output_scale)
        return self._filled(spec, stack, "backbone/decoder", embeddings)

    def _arguments(self, stack: StackConfig, embeddings: str) -> dict[str, Any]:
        shared, wide = stack.key_value_heads, stack.head_width
        return {
            "num_layers": stack.layers,
            "num_heads": stack.attention.heads,
            "pre_norm": stack.norm.placement == "pre",
            "activation": self.common.Activation[_ACTIVATIONS[stack.feed_forward.activation]],
            "layernorm_embedding": f"{embeddings}/norm/gamma" in self.weights,
            "ffn_glu": stack.feed_forward.gated,
            "rms_norm": stack.norm.kind == "rms_norm",
            "num_heads_kv": None if shared == stack.attention.heads else shared,
            "head_dim": None if wide * stack.attention.heads == stack.width else wide,
        }

    def _filled(self, spec: Any, stack: Any, path: str, embeddings: str) -> Any:
        spec.scale_embeddings = False
        if f"{embeddings}/norm/gamma" in self.weights:
            self.filling.norm(spec.layernorm_embedding, f"{embeddings}/norm")
        if f"{embeddings}/position/table" in self.weights:
            table = self.weights[f"{embeddings}/position/table"]
            spec.position_encodings.encodings = table[len(table) - stack.positions.longest :]
        if spec.pre_norm:
            self.filling.norm(spec.layer_norm, f"{path}/final_norm")
        for layer, block in zip(spec.layer, stack.order, strict=True):
            self.filling.block(layer, f"{path}/block_{block}", stack)
        if f"{path}/positions/table" in self.weights:
            for layer in spec.layer:
                layer.self_attention.relative_attention_bias = self.weights[f"{path}/positions/table"]
                farthest = np.int32(stack.positions.max_distance)
                layer.self_attention.relative_attention_max_distance = farthest
        return spec


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
