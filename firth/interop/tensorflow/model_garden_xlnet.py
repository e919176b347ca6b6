"""Model Garden's XLNet: object checkpoints of `XLNetBase`, and of the pre-trainer around it."""

import dataclasses

from firth.interop.errors import InteropError
from firth.interop.tensorflow.checkpoint import Checkpoint
from firth.interop.tensorflow.encoders import XLNET
from firth.interop.tensorflow.model_garden import read_yaml
from firth.interop.tensorflow.names import Name, Names, TensorLayout, dense, norm
from firth.interop.tensorflow.original import Config

_STACK = "encoder/_transformer_xl"
_LAYER, _PUBLISHED = f"{_STACK}/transformer_xl_layers/{{n}}", "transformer.layer.{n}"
_TABLE, _QUERY = "encoder/_embedding_layer/embeddings", "_attention_layer/_query_dense/kernel"
_MASK = "encoder/mask_emb.Smask_emb"
# [heads, head, width] in Model Garden, [width, heads, head] in the original.
_OUT_OF_HEADS = TensorLayout(
    lambda tensor, model: tensor.transpose(2, 0, 1), lambda tensor, model: tensor.transpose(1, 2, 0)
)
_PARTS = {"query": "q", "key": "k", "value": "v", "encoding": "r", "output": "o"}
_BIASES = {"content": "r_w_bias", "positional": "r_r_bias", "segment": "r_s_bias"}
# Values of its YAML for which there is nothing here.
_ALONE = {
    "attention_type": "bi",
    "bi_data": "false",
    "clamp_length": "-1",
    "memory_length": "0",
    "same_length": "false",
    "use_cls_mask": "false",
}


def _read_config(config: Config, checkpoint: Checkpoint | None) -> Config:
    """Returns the configuration of the tensors, with the rates and the activation of the YAML."""
    if checkpoint is None:
        return config
    for key, alone in _ALONE.items():
        if str(said := config.get(key, alone)).lower() != alone:
            raise InteropError(f"{key}: {said} cannot be expressed here, {alone} can")
    rate = config.get("dropout_rate") or "0.1"
    own = config.get("attention_dropout_rate") or rate
    if float(own) != float(rate):
        raise InteropError(f"attention_dropout_rate: {own} is not dropout_rate: {rate}, the only one here")
    first = _LAYER.format(n=0)
    width, heads, head = checkpoint.spec(f"{first}/{_QUERY}").shape
    if len(checkpoint.spec(f"{_STACK}/content_attention_bias").shape) == 2:
        raise InteropError("tie_attention_biases: true cannot be expressed here, false can")
    rows, _ = checkpoint.spec(_TABLE).shape
    (inner,) = checkpoint.spec(f"{first}/_inner_dense/bias").shape
    numbers = range(len(checkpoint.names) + 1)
    return {
        "d_head": head,
        "d_inner": inner,
        "d_model": width,
        "dropout": float(rate),
        # Its `gelu` is the exact one, unlike the original's.
        "ff_activation": config.get("inner_activation", "gelu"),
        "initializer_range": float(config.get("initializer_range", 0.02)),
        "n_head": heads,
        "n_layer": next(each for each in numbers if f"{_LAYER.format(n=each)}/{_QUERY}" not in checkpoint),
        "untie_r": True,
        "vocab_size": rows,
    }


MODEL_GARDEN_XLNET = dataclasses.replace(
    XLNET,
    title="XLNetBase of Model Garden",
    # The pre-trainer's head and those of tasks have layers of their own.
    family=dataclasses.replace(XLNET.family, heads=(), task_heads=()),
    base="_transformer_xl/",
    anchor=f"transformer_xl_layers/0/{_QUERY}",
    names=Names(
        (
            Name(_TABLE, "transformer.word_embedding.weight"),
            Name(_MASK, "transformer.mask_emb"),
            Name("encoder/seg_embed[{n}]", f"{_PUBLISHED}.rel_attn.seg_embed"),
            *(
                Name(f"{_STACK}/{theirs}_attention_bias[{{n}}]", f"{_PUBLISHED}.rel_attn.{name}")
                for theirs, name in _BIASES.items()
            ),
            *(
                Name(
                    f"{_LAYER}/_attention_layer/_{theirs}_dense/kernel",
                    f"{_PUBLISHED}.rel_attn.{name}",
                    *((_OUT_OF_HEADS,) if name == "o" else ()),
                )
                for theirs, name in _PARTS.items()
            ),
            *norm(f"{_LAYER}/_attention_layer_norm", f"{_PUBLISHED}.rel_attn.layer_norm"),
            *dense(f"{_LAYER}/_inner_dense", f"{_PUBLISHED}.ff.layer_1"),
            *dense(f"{_LAYER}/_output_dense", f"{_PUBLISHED}.ff.layer_2"),
            *norm(f"{_LAYER}/_output_layer_norm", f"{_PUBLISHED}.ff.layer_norm"),
        )
    ),
    needed=(),
    files=("*.yaml",),
    read=lambda path: read_yaml(path, "encoder"),
    read_config=_read_config,
    needs_config=False,
    root="encoder/",
    outside="model/",
    optional=(_MASK,),
)
