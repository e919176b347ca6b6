"""Model Garden's T5: object checkpoints of `T5Transformer`."""

import dataclasses

from firth.interop.errors import InteropError
from firth.interop.tensorflow.checkpoint import Checkpoint
from firth.interop.tensorflow.decoders import ACTIVATIONS, T5, share_table
from firth.interop.tensorflow.model_garden import read_yaml
from firth.interop.tensorflow.names import TRANSPOSED, Name, Names
from firth.interop.tensorflow.original import Config

_TABLES = ("encoder/input_embed/embeddings", "decoder/target_embed/embeddings")
_TABLE = "shared_embedding/embeddings"
_FIRST = "encoder/encoder_layers/0"


def _stack(stack: str, blocks: str) -> tuple[Name, ...]:
    """Returns the names of a stack; the last layer of a block is its feed-forward layer."""
    theirs, there = f"{stack}/{blocks}/{{n}}", f"{stack}.block.{{n}}.layer"
    last = 2 if stack == "decoder" else 1
    names = [
        Name(
            f"{theirs}/self_attention/self_attention/{{w}}/w",
            f"{there}.0.SelfAttention.{{w}}.weight",
            TRANSPOSED,
        ),
        Name(f"{theirs}/self_attention/layer_norm/weight", f"{there}.0.layer_norm.weight"),
    ]
    if stack == "decoder":
        names += [
            Name(
                f"{theirs}/cross_attention/cross_attention/{{w}}/w",
                f"{there}.1.EncDecAttention.{{w}}.weight",
                TRANSPOSED,
            ),
            Name(f"{theirs}/cross_attention/layer_norm/weight", f"{there}.1.layer_norm.weight"),
        ]
    dense = f"{there}.{last}.DenseReluDense"
    names += [
        Name(f"{theirs}/ffn/{inner}/w", f"{dense}.{name}.weight", TRANSPOSED)
        for inner, name in (("wi/0", "wi"), ("wi/0", "wi_0"), ("wi/1", "wi_1"), ("wo", "wo"))
    ]
    return (
        # [buckets, heads] on both sides; before the other parts of attention, whose pattern it fits.
        Name(
            f"{stack}/relative_embedding/relative_attention_bias/embeddings",
            f"{stack}.block.0.layer.0.SelfAttention.relative_attention_bias.weight",
        ),
        *names,
        Name(f"{theirs}/ffn_layer_norm/weight", f"{there}.{last}.layer_norm.weight"),
        Name(f"{stack}/output_norm/weight", f"{stack}.final_layer_norm.weight"),
    )


def _layers(checkpoint: Checkpoint, stack: str) -> int:
    query = f"{stack}/{stack}_layers/{{}}/self_attention/self_attention/q/w"
    return next(each for each in range(len(checkpoint.names) + 1) if query.format(each) not in checkpoint)


def _read_config(config: Config, checkpoint: Checkpoint | None) -> Config:
    """Returns the configuration of the tensors, with the rate and the activation of the YAML."""
    if checkpoint is None:
        return config
    share_table(checkpoint, _TABLE, _TABLES)
    buckets, heads = checkpoint.spec("encoder/relative_embedding/relative_attention_bias/embeddings").shape
    rows, width = checkpoint.spec(_TABLE).shape
    is_gated, is_tied = f"{_FIRST}/ffn/wi/1/w" in checkpoint, "decoder/logits_dense/w" not in checkpoint
    act = config.get("ffn_activation", "gelu" if is_gated else "relu")
    if act not in ACTIVATIONS:
        raise InteropError(f"ffn_activation: {act} cannot be expressed here, {', '.join(ACTIVATIONS)} can")
    return {
        "d_model": width,
        "d_ff": checkpoint.spec(f"{_FIRST}/ffn/wi/0/w").shape[-1],
        "d_kv": checkpoint.spec(f"{_FIRST}/self_attention/self_attention/q/w").shape[-1] // heads,
        "num_heads": heads,
        "num_layers": _layers(checkpoint, "encoder"),
        "num_decoder_layers": _layers(checkpoint, "decoder"),
        "relative_attention_num_buckets": buckets,
        "vocab_size": rows,
        "dropout_rate": float(config.get("dropout_rate", 0.1)),
        "is_gated_act": is_gated,
        "dense_act_fn": ACTIVATIONS[act],
        "tie_word_embeddings": is_tied,
        "scale_decoder_outputs": is_tied,
    }


MODEL_GARDEN_T5 = dataclasses.replace(
    T5,
    title="T5Transformer of Model Garden",
    anchor=f"{_FIRST}/self_attention/self_attention/q/w",
    names=Names(
        (
            Name(_TABLE, "shared.weight"),
            *_stack("encoder", "encoder_layers"),
            *_stack("decoder", "decoder_layers"),
            Name("decoder/logits_dense/w", "lm_head.weight", TRANSPOSED),
        )
    ),
    files=("*.yaml",),
    read_config=_read_config,
    read=read_yaml,
    # Positions of each layer.
    refused=r"_layers/\d+/self_attention/relative_embedding/",
    tokenizer_settings=lambda config: {},
)
