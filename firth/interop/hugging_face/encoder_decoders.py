"""Rules of the encoder-decoders: T5 and BART."""

import functools

from firth.interop.hugging_face.rules import (
    Rules,
    blocks,
    cross_attention,
    feed_forward,
    heads_of,
    norm,
    same,
    self_attention,
)
from firth.recipes.models.stack import StackConfig
from firth.recipes.models.transformers import EncoderDecoderConfig


def t5_backbone(model: EncoderDecoderConfig) -> Rules:
    """Yields the rules of T5 and T5 1.1."""
    yield same("shared.weight", "backbone/token_embedding/table")
    for name, stack in _stacks(model).items():
        block = functools.partial(_t5_block, is_decoder=name == "decoder")
        yield from blocks(f"{name}.block", f"backbone/{name}", block, stack)
        yield from norm(f"{name}.final_layer_norm", f"backbone/{name}/final_norm", biases=False)
        bias = f"{name}.block.0.layer.0.SelfAttention.relative_attention_bias.weight"
        yield same(bias, f"backbone/{name}/positions/table")


def _stacks(model: EncoderDecoderConfig) -> dict[str, StackConfig]:
    return {"encoder": model.stack, "decoder": model.decoder_stack}


def _t5_block(stack: StackConfig, ours: str, is_decoder: bool) -> Rules:
    heads, last = heads_of(stack), 1
    parts = [f"layer.0.SelfAttention.{part}" for part in "qkvo"]
    yield from self_attention(parts, f"{ours}/attention", heads, biases=False)
    yield from norm("layer.0.layer_norm", f"{ours}/attention_norm", biases=False)
    if is_decoder:
        parts, last = [f"layer.1.EncDecAttention.{part}" for part in "qkvo"], 2
        yield from cross_attention(parts, f"{ours}/cross_attention", heads, biases=False)
        yield from norm("layer.1.layer_norm", f"{ours}/cross_attention_norm", biases=False)
    dense, gated = f"layer.{last}.DenseReluDense", stack.feed_forward.gated
    inner, gate = (f"{dense}.wi_1", f"{dense}.wi_0") if gated else (f"{dense}.wi", None)
    yield from feed_forward(inner, f"{dense}.wo", f"{ours}/feed_forward", gate, biases=False)
    yield from norm(f"layer.{last}.layer_norm", f"{ours}/feed_forward_norm", biases=False)


def bart_backbone(model: EncoderDecoderConfig) -> Rules:
    """Yields the rules of BART."""
    yield same("shared.weight", "backbone/token_embedding/table")
    for name, stack in _stacks(model).items():
        inputs = f"backbone/{name}_embeddings"
        yield same(f"{name}.embed_positions.weight", f"{inputs}/position/table")
        yield from norm(f"{name}.layernorm_embedding", f"{inputs}/norm")
        block = functools.partial(_bart_block, is_decoder=name == "decoder")
        yield from blocks(f"{name}.layers", f"backbone/{name}", block, stack)


def _bart_block(stack: StackConfig, ours: str, is_decoder: bool) -> Rules:
    heads, parts = heads_of(stack), ("q_proj", "k_proj", "v_proj", "out_proj")
    yield from self_attention([f"self_attn.{part}" for part in parts], f"{ours}/attention", heads)
    yield from norm("self_attn_layer_norm", f"{ours}/attention_norm")
    if is_decoder:
        there = [f"encoder_attn.{part}" for part in parts]
        yield from cross_attention(there, f"{ours}/cross_attention", heads)
        yield from norm("encoder_attn_layer_norm", f"{ours}/cross_attention_norm")
    yield from feed_forward("fc1", "fc2", f"{ours}/feed_forward")
    yield from norm("final_layer_norm", f"{ours}/feed_forward_norm")
