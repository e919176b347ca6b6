"""Rules of KerasHub's XLNet."""

from firth.interop.hugging_face.rules import Rule, Rules, same
from firth.interop.hugging_face.two_streams import RelativeAttentionNames, relative_attention
from firth.interop.keras_hub.layer_rules import feed_forward, norm, numbered
from firth.recipes.models.stack import BlocksConfig
from firth.recipes.models.two_stream_transformer import TwoStreamTransformerConfig

_ATTENTION = RelativeAttentionNames(
    query="rel_attn/query/kernel",
    key="rel_attn/key/kernel",
    value="rel_attn/value/kernel",
    relative="rel_attn/encoding/kernel",
    output="rel_attn/attention_output/kernel",
    content_bias="content_attention_bias",
    position_bias="positional_attention_bias",
    segment_bias="segment_attention_bias",
    segments="segment_encoding",
)


def xlnet(model: TwoStreamTransformerConfig) -> Rules:
    """Yields the rules of XLNet."""
    yield same("content_query_embedding/word_embedding/embeddings", "backbone/token_embedding/table")
    yield Rule(
        "backbone/mask_embedding/table",
        ("encoder_block_attn_mask_layer/mask_emb",),
        lambda tensor: tensor[0],
        lambda weight: (weight[None],),
    )
    yield from numbered("xlnet_encoder", "backbone/encoder", _block, model)


def _block(stack: BlocksConfig, ours: str) -> Rules:
    yield from relative_attention(_ATTENTION, stack, f"{ours}/attention")
    yield from norm("layer_norm_rel_attn", f"{ours}/attention_norm")
    inner, outer = "feedforward_intermediate_dense", "feedforward_output_dense"
    yield from feed_forward(inner, outer, f"{ours}/feed_forward")
    yield from norm("layer_norm_ff", f"{ours}/feed_forward_norm")
