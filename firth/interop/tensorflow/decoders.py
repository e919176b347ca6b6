"""The models that write texts as they were published: GPT-2 and T5."""

import dataclasses
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from firth.interop.errors import InteropError
from firth.interop.hugging_face.decoder_families import GPT2 as PUBLISHED_GPT2
from firth.interop.hugging_face.encoder_decoder_families import T5 as PUBLISHED_T5
from firth.interop.tensorflow.checkpoint import Checkpoint
from firth.interop.tensorflow.names import CONVOLUTION, TRANSPOSED, Name, Names
from firth.interop.tensorflow.original import Config, Original, fixed
from firth.interop.tensorflow.tokenizers import BYTE_PAIRS, T5_MODEL
from firth.interop.untrusted_files import decoded_text

_HPARAMS = {
    "n_layer": "n_layer",
    "n_embd": "n_embd",
    "n_head": "n_head",
    "n_ctx": "n_positions",
    "n_vocab": "vocab_size",
}
_GPT2 = fixed(
    PUBLISHED_GPT2, layer_norm_epsilon=1e-5, activation_function="gelu_new", tie_word_embeddings=True
)


def _gpt2_norm(theirs: str, published: str) -> tuple[Name, Name]:
    return Name(f"{theirs}/g", f"{published}.weight"), Name(f"{theirs}/b", f"{published}.bias")


def _gpt2_dense(theirs: str, published: str) -> tuple[Name, Name]:
    return Name(f"{theirs}/w", f"{published}.weight", CONVOLUTION), Name(f"{theirs}/b", f"{published}.bias")


GPT2 = Original(
    "GPT-2 of OpenAI",
    # The inner width is four times the width in all of them.
    dataclasses.replace(_GPT2, fields=[each for each in _GPT2.fields if each.theirs != "n_inner"]),
    "",
    "h0/attn/c_attn/w",
    Names(
        (
            Name("model/wte", "transformer.wte.weight"),
            Name("model/wpe", "transformer.wpe.weight"),
            *_gpt2_norm("model/h{n}/ln_1", "transformer.h.{n}.ln_1"),
            *_gpt2_norm("model/h{n}/ln_2", "transformer.h.{n}.ln_2"),
            *_gpt2_norm("model/ln_f", "transformer.ln_f"),
            *_gpt2_dense("model/h{n}/attn/{w}", "transformer.h.{n}.attn.{w}"),
            *_gpt2_dense("model/h{n}/mlp/{w}", "transformer.h.{n}.mlp.{w}"),
        )
    ),
    tuple(_HPARAMS),
    "model.ckpt",
    (BYTE_PAIRS,),
    files=("hparams.json",),
    read_config=lambda config, checkpoint: {
        published: config[theirs] for theirs, published in _HPARAMS.items() if theirs in config
    },
    write_config=lambda config: {
        theirs: config[published] for theirs, published in _HPARAMS.items() if published in config
    },
    written_config="hparams.json",
    root="model/",
)

_LINE = re.compile(r"^\s*([\w./]+)\s*=\s*(.*?)\s*$")
_ACTIVATION, _LAYERS = "DenseReluDense.activation", "make_layer_stack.layers"
# Values of a model that is not this one, by the last parts of their keys.
_ONLY = {
    "run.model_type": ("bitransformer",),
    "Unitransformer.positional_embedding": ("False",),
    "Unitransformer.sinusoid_positional_embedding": ("False",),
    "SelfAttention.relative_attention_type": ("bias_shared",),
    "SelfAttention.num_memory_heads": ("0",),
    "SelfAttention.shared_kv": ("False",),
    "DenseReluDense.use_bias": ("False",),
    "VocabEmbedding.scale_variable_like_classifier_weights": ("False",),
    "unit_scaling_convention.value": ("False",),
}
# Keys whose numbers are sizes of tensors, each with the macro of a stack that has no number of its own.
_SIZES = {
    "Unitransformer.d_model": "d_model",
    "DenseReluDense.hidden_size": "d_ff",
    "SelfAttention.key_value_size": "d_kv",
    "SelfAttention.num_heads": "num_heads",
    "make_layer_stack.num_layers": "num_layers",
}
_SUBLAYERS = ("sublayer_rms_norm", "sublayer_call_layer", "sublayer_residual")
# Those that change nothing of what is computed.
_FREE_SUBLAYERS = ("sublayer_dropout", "sublayer_mask_padding")
_TABLE = "shared/embedding"
_KNOWN_LAYERS = ("SelfAttention", "EncDecAttention", "DenseReluDense")
ACTIVATIONS = {"relu": "relu", "gelu": "gelu_new", "silu": "silu", "swish": "silu"}


def _read_gin(path: str) -> Config:
    """Returns the bindings of a file of gin as texts, with the values of macros; no code runs."""
    text = re.sub(r"#.*", "", decoded_text(path)).replace("\\\n", " ")
    # A list may go over several lines.
    text = re.sub(r"([,\[(])\s*\n\s*", r"\1 ", text)
    found = {line[1]: line[2] for each in text.split("\n") if (line := _LINE.match(each))}
    return {
        key: found.get(value[1:], value) if value.startswith("%") else value for key, value in found.items()
    }


def _bindings(config: Config, ending: str) -> list[tuple[str, str]]:
    return [(key, value) for key, value in config.items() if key.split("/")[-1].endswith(ending)]


def _read_t5(config: Config, checkpoint: Checkpoint | None) -> Config:
    """Returns the configuration of the tensors, with what the gin says and they do not."""
    if checkpoint is None:
        return config
    for ending, known in _ONLY.items():
        for key, value in _bindings(config, ending):
            if value.strip("'\"") not in known:
                raise InteropError(f"{key}: {value} cannot be expressed here, {known[0]} can")
    for key, value in _bindings(config, _LAYERS):
        for layer in re.findall(r"@([\w./]+)", value):
            if layer.split(".")[-1] not in _KNOWN_LAYERS:
                raise InteropError(f"{key}: {layer} cannot be expressed here, {', '.join(_KNOWN_LAYERS)} can")
    for key, value in _bindings(config, "LayerStack.sublayers_per_layer"):
        sublayers = [name.split(".")[-1] for name in re.findall(r"@([\w./]+)", value)]
        if sublayers and tuple(name for name in sublayers if name not in _FREE_SUBLAYERS) != _SUBLAYERS:
            raise InteropError(f"{key}: {value} cannot be expressed here, {', '.join(_SUBLAYERS)} can")
    share_table(checkpoint, _TABLE, ("encoder/embedding", "decoder/embedding"))
    heads, buckets = checkpoint.spec(f"encoder/{_ATTENTION}/relative_attention_bias").shape
    rows, width = checkpoint.spec(_TABLE).shape
    is_gated = f"encoder/{_INNER}/wi_0/kernel" in checkpoint
    inner = checkpoint.spec(f"encoder/{_INNER}/{'wi_0' if is_gated else 'wi'}/kernel").shape[-1]
    made = {
        "d_model": width,
        "d_ff": inner,
        "d_kv": checkpoint.spec(f"encoder/{_ATTENTION}/q").shape[-1] // heads,
        "num_heads": heads,
        "num_layers": _layers(checkpoint, "encoder"),
    }
    decoder_layers = _layers(checkpoint, "decoder")
    for ending, name in _SIZES.items():
        of_macro = [(name, config[name])] if name in config else []
        for key, value in _bindings(config, ending) or of_macro:
            of_decoder = name == "num_layers" and key.startswith("decoder/")
            number = decoder_layers if of_decoder else made[name]
            if value.isdigit() and value != str(number):
                raise InteropError(f"{key}: {value} is not that of the tensors, {number}")
    is_tied = "decoder/logits/kernel" not in checkpoint
    dropout = config.get("dropout_rate", "0.1")
    return {
        **made,
        "num_decoder_layers": decoder_layers,
        "relative_attention_num_buckets": buckets,
        "vocab_size": rows,
        "dropout_rate": float(dropout),
        "is_gated_act": is_gated,
        "dense_act_fn": _activation(config, is_gated),
        "tie_word_embeddings": is_tied,
        "scale_decoder_outputs": is_tied,
    }


def share_table(checkpoint: Checkpoint, shared: str, apart: Sequence[str]) -> None:
    """Makes the tables of encoder and decoder one, if they are the same.

    Raises:
        InteropError: if there is none, or they differ.
    """
    tables = [name for name in apart if name in checkpoint]
    if shared in checkpoint:
        return
    if not tables:
        raise InteropError(f"{checkpoint.prefix}: there is no {shared}")
    if len(tables) == 2 and not np.array_equal(checkpoint[tables[0]], checkpoint[tables[1]]):
        raise InteropError(f"{checkpoint.prefix}: {' and '.join(tables)} differ, and are one table here")
    checkpoint.put_together(shared, tables)


def _activation(config: Config, is_gated: bool) -> str:
    for key, value in _bindings(config, _ACTIVATION):
        names = re.findall(r"\w+", value)
        if names[:1] and names[0] in ACTIVATIONS and names[1:] == ["linear"] * is_gated:
            return ACTIVATIONS[names[0]]
        gated = "with linear " if is_gated else ""
        raise InteropError(f"{key}: {value} cannot be expressed here, {', '.join(ACTIVATIONS)} {gated}can")
    return "gelu_new" if is_gated else "relu"


_ATTENTION, _INNER = "block_000/layer_000/SelfAttention", "block_000/layer_001/DenseReluDense"


def _layers(checkpoint: Checkpoint, stack: str) -> int:
    numbers = range(len(checkpoint.names))
    return next(
        each for each in numbers if f"{stack}/block_{each:03}/layer_000/SelfAttention/q" not in checkpoint
    )


def _write_t5(config: Config) -> Config:
    gates = config["is_gated_act"] if "is_gated_act" in config else "gated" in config["feed_forward_proj"]
    act = (
        str(config.get("dense_act_fn", config["feed_forward_proj"]))
        .split("-")[-1]
        .replace("gelu_new", "gelu")
    )
    layers = "mesh_tensorflow.transformer.transformer_layers"
    stacks = {"encoder": _KNOWN_LAYERS[::2], "decoder": _KNOWN_LAYERS}
    made: dict[str, Any] = {
        **{key: config[key] for key in ("d_ff", "d_kv", "d_model")},
        "dropout_rate": config["dropout_rate"],
        "num_heads": config["num_heads"],
        "num_layers": config["num_layers"],
        "run.model_type": "'bitransformer'",
        "Bitransformer.shared_embedding": True,
        "make_bitransformer.decoder_name": "'decoder'",
        "make_bitransformer.encoder_name": "'encoder'",
        "sublayer_rms_norm.epsilon": 1e-6,
    }
    counts = {
        "encoder": config["num_layers"],
        "decoder": config.get("num_decoder_layers") or config["num_layers"],
    }
    for stack, kinds in stacks.items():
        made |= {
            f"{stack}/DenseReluDense.activation": f"['{act}', 'linear']" if gates else f"'{act}'",
            f"{stack}/DenseReluDense.dropout_rate": "%dropout_rate",
            f"{stack}/DenseReluDense.hidden_size": "%d_ff",
            f"{stack}/DenseReluDense.use_bias": False,
            f"{stack}/make_layer_stack.block_scope": True,
            f"{stack}/make_layer_stack.layers": f"[{', '.join(f'@{layers}.{kind}' for kind in kinds)}]",
            f"{stack}/make_layer_stack.num_layers": counts[stack],
            f"{stack}/SelfAttention.dropout_rate": "%dropout_rate",
            f"{stack}/SelfAttention.key_value_size": "%d_kv",
            f"{stack}/SelfAttention.num_heads": "%num_heads",
            f"{stack}/SelfAttention.num_memory_heads": 0,
            f"{stack}/SelfAttention.relative_attention_num_buckets": config["relative_attention_num_buckets"],
            f"{stack}/SelfAttention.relative_attention_type": "'bias_shared'",
            f"{stack}/SelfAttention.shared_kv": False,
            f"{stack}/Unitransformer.d_model": "%d_model",
            f"{stack}/Unitransformer.positional_embedding": False,
            f"{stack}/Unitransformer.shared_embedding_and_softmax_weights": config["tie_word_embeddings"],
        }
    return made


def _extra_ids(config: Config) -> Config:
    found = _bindings(config, "SentencePieceVocabulary.extra_ids")
    return {"extra_ids": int(found[0][1])} if found and found[0][1].isdigit() else {}


T5 = Original(
    "T5 of google-research",
    fixed(PUBLISHED_T5, layer_norm_epsilon=1e-6, relative_attention_max_distance=128),
    "",
    f"encoder/{_ATTENTION}/q",
    Names(
        (
            Name(_TABLE, "shared.weight"),
            *(
                Name(
                    f"{{w}}/block_{{n:03}}/layer_{{n:03}}/{kind}/{{w}}",
                    f"{{w}}.block.{{n}}.layer.{{n}}.{kind}.{{w}}.weight",
                    TRANSPOSED,
                )
                for kind in ("SelfAttention", "EncDecAttention")
            ),
            Name(
                "{w}/block_{n:03}/layer_{n:03}/DenseReluDense/{w}/kernel",
                "{w}.block.{n}.layer.{n}.DenseReluDense.{w}.weight",
                TRANSPOSED,
            ),
            Name(
                "{w}/block_{n:03}/layer_{n:03}/layer_norm/scale", "{w}.block.{n}.layer.{n}.layer_norm.weight"
            ),
            Name("{w}/final_layer_norm/scale", "{w}.final_layer_norm.weight"),
            Name("decoder/logits/kernel", "lm_head.weight", TRANSPOSED),
        )
    ),
    (),
    "model.ckpt-0",
    (T5_MODEL,),
    files=("operative_config.gin",),
    needs_config=False,
    read_config=_read_t5,
    write_config=_write_t5,
    written_config="operative_config.gin",
    read=_read_gin,
    write=lambda config: "".join(f"{key} = {value}\n" for key, value in config.items()),
    # Each layer has relative positions of its own.
    refused=r"block_(?!000)\d+/layer_000/SelfAttention/relative_attention_bias$",
    tokenizer_settings=_extra_ids,
)
DECODERS = (GPT2, T5)
