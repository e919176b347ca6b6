"""Rules of the decoders: GPT, GPT-2, Llama and Qwen 3."""

from firth.interop.hugging_face.rules import (
    Rules,
    blocks,
    feed_forward,
    heads_of,
    norm,
    same,
    self_attention,
    transposed,
)
from firth.recipes.models.stack import StackConfig
from firth.recipes.models.transformers import CausalTransformerConfig, EncoderDecoderConfig

DECODER = "backbone/decoder"


def gpt2_backbone(model: CausalTransformerConfig) -> Rules:
    """Yields the rules of GPT-2, whose dense layers hold [inputs, outputs] as ours do."""
    yield same("wte.weight", "backbone/token_embedding/table")
    yield same("wpe.weight", "backbone/embeddings/position/table")
    yield from blocks("h", DECODER, _gpt2_block, model.stack)
    yield from norm("ln_f", f"{DECODER}/final_norm")


def gpt_backbone(model: CausalTransformerConfig) -> Rules:
    """Yields the rules of the first GPT, whose norms stand after each sum."""
    yield same("tokens_embed.weight", "backbone/token_embedding/table")
    yield same("positions_embed.weight", "backbone/embeddings/position/table")
    yield from blocks("h", DECODER, _gpt2_block, model.stack)


def _gpt2_block(stack: StackConfig, ours: str) -> Rules:
    for theirs, path in (("attn.c_attn", "attention"), ("attn.c_proj", "attention/output")):
        yield same(f"{theirs}.weight", f"{ours}/{path}/kernel")
        yield same(f"{theirs}.bias", f"{ours}/{path}/bias")
    yield from norm("ln_1", f"{ours}/attention_norm")
    # The first kernel of a feed-forward layer is [outputs, inputs] in ours.
    yield transposed("mlp.c_fc.weight", f"{ours}/feed_forward/inner_kernel")
    yield same("mlp.c_fc.bias", f"{ours}/feed_forward/inner_bias")
    yield same("mlp.c_proj.weight", f"{ours}/feed_forward/outer_kernel")
    yield same("mlp.c_proj.bias", f"{ours}/feed_forward/outer_bias")
    yield from norm("ln_2", f"{ours}/feed_forward_norm")


def llama_backbone(model: CausalTransformerConfig) -> Rules:
    """Yields the rules of Llama and Qwen 3."""
    yield same("embed_tokens.weight", "backbone/token_embedding/table")
    yield from blocks("layers", DECODER, _llama_block, model.stack)
    yield from norm("norm", f"{DECODER}/final_norm", biases=False)


def _llama_block(stack: StackConfig, ours: str) -> Rules:
    parts = [f"self_attn.{part}_proj" for part in "qkvo"]
    yield from self_attention(parts, f"{ours}/attention", heads_of(stack), biases=False)
    if stack.attention.query_key_norm:
        yield from norm("self_attn.q_norm", f"{ours}/attention/query_norm", biases=False)
        yield from norm("self_attn.k_norm", f"{ours}/attention/key_norm", biases=False)
    yield from norm("input_layernorm", f"{ours}/attention_norm", biases=False)
    inner, outer, gate = (f"mlp.{part}_proj" for part in ("up", "down", "gate"))
    yield from feed_forward(inner, outer, f"{ours}/feed_forward", gate, biases=False)
    yield from norm("post_attention_layernorm", f"{ours}/feed_forward_norm", biases=False)


def untied_head(model: CausalTransformerConfig | EncoderDecoderConfig) -> Rules:
    """Yields the rule of an output table of its own, if the model has one."""
    if not model.tied_output:
        yield same("lm_head.weight", "heads/table")
