"""Rules of KerasHub's decoders, GPT-2 and Llama, and of its encoder-decoders, T5 and BART."""

from firth.interop.hugging_face.rules import Rules, heads_of, same, transposed
from firth.interop.keras_hub.encoders import (
    PROJECTIONS,
    cross_attention,
    dense,
    encoder_block,
    feed_forward,
    norm,
    numbered,
    self_attention,
    side_by_side,
)
from firth.recipes.goals.goal import Goal
from firth.recipes.models.stack import StackConfig
from firth.recipes.models.transformers import CausalTransformerConfig, EncoderDecoderConfig

_DECODER, _TOKENS = "backbone/decoder", "backbone/token_embedding/table"
_INNER, _OUTER = "feedforward_intermediate_dense", "feedforward_output_dense"


def gpt2(model: CausalTransformerConfig) -> Rules:
    """Yields the rules of GPT-2."""
    yield same("token_embedding/embeddings", _TOKENS)
    yield same("position_embedding/embeddings", "backbone/embeddings/position/table")
    yield from numbered("transformer_layer", _DECODER, _decoder_block, model.stack)
    yield from norm("layer_norm", f"{_DECODER}/final_norm")


def _decoder_block(stack: StackConfig, ours: str) -> Rules:
    yield from self_attention("self_attention", f"{ours}/attention", heads_of(stack))
    yield from norm("self_attention_layer_norm", f"{ours}/attention_norm")
    yield from feed_forward(_INNER, _OUTER, f"{ours}/feed_forward")
    yield from norm("feedforward_layer_norm", f"{ours}/feed_forward_norm")


def llama(model: CausalTransformerConfig) -> Rules:
    """Yields the rules of Llama."""
    yield same("token_embedding/embeddings", _TOKENS)
    yield from numbered("transformer_layer", _DECODER, _llama_block, model.stack)
    yield same("sequence_output_layernorm/scale", f"{_DECODER}/final_norm/scale")


def _llama_block(stack: StackConfig, ours: str) -> Rules:
    yield from self_attention("self_attention", f"{ours}/attention", heads_of(stack), biases=False)
    yield same("self_attention_layernorm/scale", f"{ours}/attention_norm/scale")
    yield from feed_forward(_INNER, _OUTER, f"{ours}/feed_forward", "feedforward_gate_dense", biases=False)
    yield same("feedforward_layernorm/scale", f"{ours}/feed_forward_norm/scale")


def output_table(model: CausalTransformerConfig | EncoderDecoderConfig, goal: Goal) -> Rules:
    """Yields the rule of an output table of its own, which is a part of KerasHub's token embedding."""
    if not model.tied_output:
        yield transposed("token_embedding/reverse_embeddings", "heads/table")


def bart(model: EncoderDecoderConfig) -> Rules:
    """Yields the rules of BART."""
    yield same("token_embedding/embeddings", _TOKENS)
    for name in ("encoder", "decoder"):
        inputs = f"backbone/{name}_embeddings"
        yield same(f"{name}_position_embedding/embeddings", f"{inputs}/position/table")
        yield from norm(f"{name}_embeddings_layer_norm", f"{inputs}/norm")
    yield from numbered("transformer_encoder_layer", "backbone/encoder", encoder_block, model.stack)
    yield from numbered("transformer_decoder_layer", _DECODER, _bart_decoder_block, model.decoder_stack)


def _bart_decoder_block(stack: StackConfig, ours: str) -> Rules:
    yield from _decoder_block(stack, ours)
    yield from cross_attention("cross_attention", f"{ours}/cross_attention", heads_of(stack))
    yield from norm("cross_attention_layer_norm", f"{ours}/cross_attention_norm")


def t5(model: EncoderDecoderConfig) -> Rules:
    """Yields the rules of T5 and T5 1.1, by the names that `firth.interop.keras_hub.preset` gives."""
    yield same("token_embedding/embeddings", _TOKENS)
    for name, biases, block, stack in (
        ("encoder", "self_attention", _t5_encoder_block, model.stack),
        ("decoder", "self_attention_1", _t5_decoder_block, model.decoder_stack),
    ):
        yield same(f"{biases}/embeddings", f"backbone/{name}/positions/table")
        yield from numbered(f"transformer_{name}_layer", f"backbone/{name}", block, stack)
        yield same(f"{name}_output_layer_norm/weight", f"backbone/{name}/final_norm/scale")


def _t5_encoder_block(stack: StackConfig, ours: str) -> Rules:
    yield from _t5_self_attention(ours)
    yield from _t5_feed_forward(stack, ours, "norm_1")


def _t5_decoder_block(stack: StackConfig, ours: str) -> Rules:
    yield from _t5_self_attention(ours)
    there, here = "cross_attention", f"{ours}/cross_attention"
    yield same(f"{there}/query_projector/kernel", f"{here}/query_kernel")
    yield side_by_side([f"{there}/{part}_projector" for part in ("key", "value")], f"{here}/kernel")
    yield from dense(f"{there}/output_projector", f"{here}/output", biases=False)
    yield same("norm_1/weight", f"{ours}/cross_attention_norm/scale")
    yield from _t5_feed_forward(stack, ours, "norm_2")


def _t5_self_attention(ours: str) -> Rules:
    there, here = "self_attention", f"{ours}/attention"
    yield side_by_side([f"{there}/{part}_projector" for part in PROJECTIONS], f"{here}/kernel")
    yield from dense(f"{there}/output_projector", f"{here}/output", biases=False)
    yield same("norm_0/weight", f"{ours}/attention_norm/scale")


def _t5_feed_forward(stack: StackConfig, ours: str, norm_name: str) -> Rules:
    # The layer that is activated is their first one, with a gate or without one.
    inner, gate = "input_projector", None
    if stack.feed_forward.gated:
        inner, gate = "gate_projector", inner
    yield from feed_forward(inner, "output_projector", f"{ours}/feed_forward", gate, biases=False)
    yield same(f"{norm_name}/weight", f"{ours}/feed_forward_norm/scale")
