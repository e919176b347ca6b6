"""Specifications of CTranslate2 for our models."""

from collections.abc import Collection
from typing import Any

import numpy as np

from firth.interop.ctranslate2.filling import Filling
from firth.interop.extras import import_extra
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
