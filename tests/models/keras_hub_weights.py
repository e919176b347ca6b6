"""The weights of KerasHub's backbones, by the paths that ours have."""

import numpy as np

from tests.models import weights
from tests.models.weights import Linear, Weights

LAYERS = 2
PROJECTIONS = ("query", "key", "value", "attention_output")


def linear(arrays: Weights, name: str) -> Linear:
    """Returns a kernel with one axis of inputs and one of outputs, and the bias."""
    kernel, bias = arrays[f"{name}/kernel"], arrays.get(f"{name}/bias")
    # The axes of inputs come first: both of a head in an attention's output, one elsewhere.
    inputs = kernel.shape[:-1] if name.endswith("attention_output") else kernel.shape[:1]
    return kernel.reshape(int(np.prod(inputs)), -1), None if bias is None else bias.reshape(-1)


def norm(arrays: Weights, path: str, name: str) -> Weights:
    if f"{name}/scale" in arrays:
        return weights.norm(path, arrays[f"{name}/scale"])
    return weights.norm(path, arrays[f"{name}/gamma"], arrays[f"{name}/beta"])


def projections(arrays: Weights, name: str) -> list[Linear]:
    return [linear(arrays, f"{name}/{part}") for part in PROJECTIONS]


def feed_forward(arrays: Weights, path: str, name: str, gated: bool = False) -> Weights:
    parts = ["intermediate", "output", *(["gate"] if gated else [])]
    layers = [linear(arrays, f"{name}/feedforward_{part}_dense") for part in parts]
    return weights.feed_forward(path, *layers)


def gpt2(arrays: Weights) -> Weights:
    found = {
        "token_embedding/table": arrays["token_embedding/embeddings"],
        "embeddings/position/table": arrays["position_embedding/embeddings"],
        **norm(arrays, "decoder/final_norm", "layer_norm"),
    }
    for index in range(LAYERS):
        here, there = f"decoder/block_{index}", f"transformer_layer_{index}"
        found |= weights.attention(f"{here}/attention", *projections(arrays, f"{there}/self_attention"))
        found |= norm(arrays, f"{here}/attention_norm", f"{there}/self_attention_layer_norm")
        found |= feed_forward(arrays, f"{here}/feed_forward", there)
        found |= norm(arrays, f"{here}/feed_forward_norm", f"{there}/feedforward_layer_norm")
    return found


def llama(arrays: Weights) -> Weights:
    found = {
        "token_embedding/table": arrays["token_embedding/embeddings"],
        **norm(arrays, "decoder/final_norm", "sequence_output_layernorm"),
    }
    for index in range(LAYERS):
        here, there = f"decoder/block_{index}", f"transformer_layer_{index}"
        attention = projections(arrays, f"{there}/self_attention")
        found |= weights.attention(f"{here}/attention", *attention, groups=(2, 2))
        found |= norm(arrays, f"{here}/attention_norm", f"{there}/self_attention_layernorm")
        found |= feed_forward(arrays, f"{here}/feed_forward", there, gated=True)
        found |= norm(arrays, f"{here}/feed_forward_norm", f"{there}/feedforward_layernorm")
    return found


def bart(arrays: Weights) -> Weights:
    found = {"token_embedding/table": arrays["token_embedding/embeddings"]}
    for stack, layer in (("encoder", "self_attention_layer"), ("decoder", "self_attention")):
        inputs = f"{stack}_embeddings"
        found[f"{inputs}/position/table"] = arrays[f"{stack}_position_embedding/embeddings"]
        found |= norm(arrays, f"{inputs}/norm", f"{stack}_embeddings_layer_norm")
        for index in range(LAYERS):
            here, there = f"{stack}/block_{index}", f"transformer_{stack}_layer_{index}"
            found |= weights.attention(f"{here}/attention", *projections(arrays, f"{there}/{layer}"))
            found |= norm(arrays, f"{here}/attention_norm", f"{there}/self_attention_layer_norm")
            found |= feed_forward(arrays, f"{here}/feed_forward", there)
            found |= norm(arrays, f"{here}/feed_forward_norm", f"{there}/feedforward_layer_norm")
            if stack == "decoder":
                cross = projections(arrays, f"{there}/cross_attention")
                found |= weights.cross_attention(f"{here}/cross_attention", *cross)
                found |= norm(arrays, f"{here}/cross_attention_norm", f"{there}/cross_attention_layer_norm")
    return found
