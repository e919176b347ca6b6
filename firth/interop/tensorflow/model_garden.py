"""Model Garden's `BertEncoderV2`, its pre-trainer and fine-tuned models: names and configuration."""

import dataclasses
import itertools
import re
from collections.abc import Iterator
from typing import Any

from firth import storage
from firth.interop.errors import InteropError
from firth.interop.hugging_face import encoder_families as families, encoders
from firth.interop.hugging_face.heads import FamilyHeads
from firth.interop.hugging_face.rules import Rules, linear
from firth.interop.tensorflow.checkpoint import Checkpoint
from firth.interop.tensorflow.model_garden_heads import GARDEN_HEADS, GARDEN_NAMES, garden_task
from firth.interop.tensorflow.names import Name, Names, TensorLayout, dense, norm
from firth.interop.tensorflow.original import Config, Original, fixed
from firth.interop.tensorflow.tokenizers import VOCABULARY
from firth.interop.untrusted_files import read_mapping
from firth.recipes.objectives.masking import MaskedLM

_LAYER, _PUBLISHED = "encoder/_transformer_layers/{n}", "electra.encoder.layer.{n}"
_QUERY = "_transformer_layers/0/_attention_layer/_query_dense/kernel"
CHECKPOINT, PARAMETERS = "ckpt-0", "params.yaml"


def _heads(model: Any) -> tuple[int, int]:
    return model.attention.heads, model.stack.head_width


# Kernels of attention have an axis of heads.
_INTO_HEADS = TensorLayout(
    lambda tensor, model: tensor.reshape(len(tensor), -1).T,
    lambda tensor, model: tensor.T.reshape(tensor.shape[1], *_heads(model)),
)
_BIAS_OF_HEADS = TensorLayout(
    lambda tensor, model: tensor.reshape(-1),
    lambda tensor, model: tensor.reshape(_heads(model)),
)
_OUT_OF_HEADS = TensorLayout(
    lambda tensor, model: tensor.reshape(-1, tensor.shape[-1]).T,
    lambda tensor, model: tensor.T.reshape(*_heads(model), len(tensor)),
)


def _attention() -> Iterator[Name]:
    theirs, published = f"{_LAYER}/_attention_layer", f"{_PUBLISHED}.attention"
    for part in ("query", "key", "value"):
        yield Name(f"{theirs}/_{part}_dense/kernel", f"{published}.self.{part}.weight", _INTO_HEADS)
        yield Name(f"{theirs}/_{part}_dense/bias", f"{published}.self.{part}.bias", _BIAS_OF_HEADS)
    yield Name(f"{theirs}/_output_dense/kernel", f"{published}.output.dense.weight", _OUT_OF_HEADS)
    yield Name(f"{theirs}/_output_dense/bias", f"{published}.output.dense.bias")


_TABLE, _TABLE_OF_HEAD = "encoder/_embedding_layer/embeddings", "masked_lm/embedding_table"
_NAMES = Names(
    (
        Name(_TABLE, "electra.embeddings.word_embeddings.weight"),
        Name("encoder/_position_embedding_layer/embeddings", "electra.embeddings.position_embeddings.weight"),
        Name("encoder/_type_embedding_layer/embeddings", "electra.embeddings.token_type_embeddings.weight"),
        *norm("encoder/_embedding_norm_layer", "electra.embeddings.LayerNorm"),
        *dense("encoder/_embedding_projection", "electra.embeddings_project"),
        *_attention(),
        *norm(f"{_LAYER}/_attention_layer_norm", f"{_PUBLISHED}.attention.output.LayerNorm"),
        *dense(f"{_LAYER}/_intermediate_dense", f"{_PUBLISHED}.intermediate.dense"),
        *dense(f"{_LAYER}/_output_dense", f"{_PUBLISHED}.output.dense"),
        *norm(f"{_LAYER}/_output_layer_norm", f"{_PUBLISHED}.output.LayerNorm"),
        *dense("masked_lm/dense", "generator_predictions.dense"),
        *norm("masked_lm/layer_norm", "generator_predictions.LayerNorm"),
        Name("masked_lm/output_bias.Sbias", "generator_lm_head.bias"),
        *dense("classification_heads/0/dense", "electra.pooler.dense"),
        *dense("classification_heads/0/out_proj", "electra.pair"),
        *GARDEN_NAMES,
    )
)


def _pretraining(model: Any) -> Rules:
    yield from encoders.electra_masked_lm(model)
    yield from linear("electra.pooler.dense", "heads/pooler/dense")
    yield from linear("electra.pair", "heads/pair_head/dense")


_FAMILY = dataclasses.replace(
    fixed(families.ELECTRA, layer_norm_eps=1e-12),
    heads=(
        FamilyHeads("BertPretrainerV2", "masked_lm", ("mlm", "nsp"), _pretraining),
        FamilyHeads("BertPretrainerV2", "masked_lm", ("mlm",), encoders.electra_masked_lm),
    ),
    objective=lambda names: MaskedLM(next_sentence="electra.pair.weight" in names),
    task_heads=GARDEN_HEADS,
)
# By the keys of its YAML, `task.model.encoder.bert`.
KEYS = {
    "attention_dropout_rate": "attention_probs_dropout_prob",
    "dropout_rate": "hidden_dropout_prob",
    "embedding_size": "embedding_size",
    "hidden_activation": "hidden_act",
    "hidden_size": "hidden_size",
    "initializer_range": "initializer_range",
    "intermediate_size": "intermediate_size",
    "max_position_embeddings": "max_position_embeddings",
    "num_attention_heads": "num_attention_heads",
    "num_layers": "num_hidden_layers",
    "type_vocab_size": "type_vocab_size",
    "vocab_size": "vocab_size",
}
_LINE = re.compile(r"^( *)(\w+): *([^#{]*?) *$")


def read_yaml(path: str, block: str = "") -> Config:
    """Returns the plain values of a YAML file by their keys: those of a block, if it is there, or all."""
    lines = [line for line in map(_LINE.match, storage.read_text(path).split("\n")) if line]
    start = next((index for index, line in enumerate(lines) if line[2] == block and not line[3]), None)
    if start is not None:
        depth = len(lines[start][1])
        lines = [*itertools.takewhile(lambda line: len(line[1]) > depth, lines[start + 1 :])]
    return {line[2]: line[3].strip("'\"") for line in lines if line[3]}


def _read_parameters(path: str) -> Config:
    """Returns the values of its YAML, or those of BERT's configuration under the keys of the YAML."""
    if not path.endswith(".json"):
        # Heads and data have keys of the same names.
        return read_yaml(path, "encoder")
    theirs = {published: key for key, published in KEYS.items()}
    found = read_mapping(path)
    return {theirs.get(key, key): str(value) for key, value in found.items() if value is not None}


def read_config(config: Config, checkpoint: Checkpoint | None) -> Config:
    """Returns the configuration of the tensors, with the rates and the activation of the YAML."""
    if checkpoint is None:
        act = config.get("hidden_act")
        return {**config, "hidden_act": "gelu_new" if act == "gelu" else act}
    layer = "encoder/_transformer_layers/{}/_attention_layer/_query_dense/kernel"
    width, heads, _ = checkpoint.spec(layer.format(0)).shape
    (inner,) = checkpoint.spec("encoder/_transformer_layers/0/_intermediate_dense/bias").shape
    rows, embedding = checkpoint.spec(_TABLE).shape
    of_tensors = {
        "hidden_size": width,
        "num_attention_heads": heads,
        "intermediate_size": inner,
        "vocab_size": rows,
        "embedding_size": embedding,
        "max_position_embeddings": checkpoint.spec("encoder/_position_embedding_layer/embeddings").shape[0],
        "type_vocab_size": checkpoint.spec("encoder/_type_embedding_layer/embeddings").shape[0],
        "num_hidden_layers": next(
            each for each in range(len(checkpoint.names) + 1) if layer.format(each) not in checkpoint
        ),
    }
    for theirs, published in KEYS.items():
        given, found = config.get(theirs), of_tensors.get(published)
        if found is not None and given not in (None, "null", str(found)):
            raise InteropError(f"{theirs}: {given} is not that of the tensors, {found}")
    if config.get("norm_first", "false").lower() == "true":
        raise InteropError("norm_first: true cannot be expressed here, false can")
    act = config.get("hidden_activation", "gelu")
    rates = ("attention_dropout_rate", "dropout_rate", "initializer_range")
    return {
        **of_tensors,
        **{KEYS[key]: float(config[key]) for key in rates if key in config},
        # Its `gelu` is the approximate one.
        "hidden_act": "gelu_new" if act == "gelu" else act,
    }


MODEL_GARDEN = Original(
    "BertEncoderV2 of Model Garden",
    _FAMILY,
    "",
    _QUERY,
    _NAMES,
    (),
    CHECKPOINT,
    (VOCABULARY,),
    # Its first releases have BERT's configuration.
    files=("*.yaml", "*bert*config.json"),
    read_config=read_config,
    written_config=PARAMETERS,
    read=_read_parameters,
    needs_config=False,
    root="encoder/",
    outside="model/",
    fallbacks={_TABLE: _TABLE_OF_HEAD},
    # An ElectraPretrainer, whose heads are of two encoders.
    refused=r"(^|/)generator_network/",
    task_names=garden_task,
)
