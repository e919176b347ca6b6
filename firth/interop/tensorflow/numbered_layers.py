"""Encoders of Model Garden's functional models, whose object checkpoints number the layers."""

import dataclasses
import re
from collections.abc import Iterable
from typing import Any

from firth.interop.errors import InteropError
from firth.interop.hugging_face import encoder_families as families
from firth.interop.tensorflow.checkpoint import Checkpoint
from firth.interop.tensorflow.model_garden import MODEL_GARDEN, read_config
from firth.interop.tensorflow.model_garden_heads import GARDEN_HEADS, GARDEN_NAMES
from firth.interop.tensorflow.names import Name, Names
from firth.interop.tensorflow.original import VALUE, Config, Original, fixed
from firth.interop.tensorflow.tokenizers import ALBERT_MODEL, VOCABULARY

BLOCK = re.compile(r"(.*?)layer_with_weights-(\d+)/_attention_layer/_query_dense/kernel")
_EMBEDDINGS = (
    "_embedding_layer",
    "_position_embedding_layer",
    "_type_embedding_layer",
    "_embedding_norm_layer",
)
# The first releases have the output of attention next to it.
_OUTPUT_OF_EARLIER = ("/_attention_output_dense/", "/_attention_layer/_output_dense/")
# The number of the first block where embeddings are projected.
_PROJECTED = len(_EMBEDDINGS) + 1


@dataclasses.dataclass(frozen=True)
class NumberedLayers(Original):
    """An encoder whose checkpoint calls its layers `layer_with_weights-0` and so on.

    Attributes:
        is_shared: Whether one block is applied again and again.
    """

    is_shared: bool = False

    def scope_in(self, names: Iterable[str]) -> str | None:
        """Returns the scope before the layers; None if the blocks are not those of the family."""
        plain = (name.removesuffix(VALUE) for name in names)
        found = [block for name in plain if (block := BLOCK.fullmatch(name))]
        shared = len(found) == 1 and int(found[0][2]) == _PROJECTED
        return found[0][1] if found and shared == self.is_shared else None

    def name_tensors(self, checkpoint: Checkpoint, scope: str) -> None:
        """Gives the layers the names of `BertEncoderV2`."""
        plain = {name.removesuffix(VALUE): name for name in checkpoint.names}
        found_blocks = [block for name in plain if (block := BLOCK.fullmatch(name))]
        blocks = sorted(int(block[2]) for block in found_blocks if block[1] == scope)
        layers = dict(enumerate(_EMBEDDINGS))
        layers |= {_PROJECTED - 1: "_embedding_projection"} if blocks[0] == _PROJECTED else {}
        layers |= {number: f"_transformer_layers/{number - blocks[0]}" for number in blocks}
        layers |= {blocks[-1] + 1: "_pooler_layer"}
        names = {}
        for name, there in plain.items():
            found = re.fullmatch(re.escape(scope) + r"layer_with_weights-(\d+)/(.*)", name)
            known = found is not None and int(found[1]) in layers
            inner = f"encoder/{layers[int(found[1])]}/{found[2]}" if known and found else name
            inner = inner.replace(*_OUTPUT_OF_EARLIER)
            names[inner] = there
        checkpoint.take_names(names)
        self.name_heads(checkpoint)


def _read_albert(config: Config, checkpoint: Checkpoint | None) -> Config:
    if checkpoint is None:
        return read_config(config, None)
    layers = config.get("num_layers")
    if layers is None:
        raise InteropError("num_layers: required of an AlbertEncoder, whose layers are one")
    plain = {key: value for key, value in config.items() if key != "num_layers"}
    return {**read_config(plain, checkpoint), "num_hidden_layers": int(layers), "num_hidden_groups": 1}


def _albert_name(published: str) -> str:
    inner = published.replace(
        "electra.encoder.layer.{n}", "albert.encoder.albert_layer_groups.0.albert_layers.{n}"
    )
    for old, new in (
        ("attention.self.", "attention."),
        ("attention.output.dense", "attention.dense"),
        ("attention.output.LayerNorm", "attention.LayerNorm"),
        ("intermediate.dense", "ffn"),
        ("}.output.dense", "}.ffn_output"),
        ("}.output.LayerNorm", "}.full_layer_layer_norm"),
        ("electra.embeddings_project", "albert.encoder.embedding_hidden_mapping_in"),
        ("electra.", "albert."),
    ):
        inner = inner.replace(old, new)
    return inner


def _of_encoder(original: Original) -> list[Name]:
    return [each for each in original.names.rows if each.theirs.startswith("encoder/")]


_SHARED: dict[str, Any] = {
    "title": "AlbertEncoder of Model Garden",
    "family": dataclasses.replace(
        fixed(families.ALBERT, layer_norm_eps=1e-12), heads=(), task_heads=GARDEN_HEADS
    ),
    "names": Names(
        (
            *(each._replace(published=_albert_name(each.published)) for each in _of_encoder(MODEL_GARDEN)),
            *GARDEN_NAMES,
        )
    ),
    "tokenizers": (ALBERT_MODEL, VOCABULARY),
    "read_config": _read_albert,
}
_FIELDS = {field.name: getattr(MODEL_GARDEN, field.name) for field in dataclasses.fields(MODEL_GARDEN)}
# Layers of an AlbertEncoder by those of `BertEncoderV2`.
ALBERT_LAYERS = {
    name: f"layer_with_weights-{number}"
    for number, name in enumerate(
        (*_EMBEDDINGS, "_embedding_projection", "_transformer_layers/0", "_pooler_layer")
    )
}
MODEL_GARDEN_ALBERT = NumberedLayers(**{**_FIELDS, **_SHARED}, is_shared=True)
NUMBERED = (NumberedLayers(**{**_FIELDS, "title": "BertEncoder of Model Garden"}), MODEL_GARDEN_ALBERT)
