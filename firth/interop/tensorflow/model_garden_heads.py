"""Heads of Model Garden's `BertClassifier`, `BertSpanLabeler` and `BertTokenClassifier`."""

import dataclasses
import re
from collections.abc import Mapping
from typing import NamedTuple

from firth.interop.hugging_face.heads import TaskHeads, answerer, pooled_classifier, tagger
from firth.interop.hugging_face.rules import Array
from firth.interop.tensorflow.checkpoint import Checkpoint
from firth.interop.tensorflow.names import dense

_POOLER, _HEAD = "encoder/_pooler_layer", "layer_with_weights-1"
# The rules have these names for layers that files number.
CLASSES, TAGS, SPANS, POOLER = "<classes>", "<tags>", "<spans>", "<pooler>"
GARDEN_NAMES = (
    *dense(CLASSES, "garden.classifier"),
    *dense(TAGS, "garden.tagger"),
    *dense(SPANS, "garden.answerer"),
    *dense(POOLER, "garden.pooler"),
)
_PARTS = ("kernel", "bias")
# The layer of a classifier's outputs; earlier releases have the second.
_OUTPUTS_OF_CLASSES = ("out_proj/", "layer_with_weights-0/")
# Attributes of a span labeler alone; in earlier releases, the layer of its second output.
_OF_SPANS = {"span_labeling", "layer-6"}
_LAYER = re.compile(r"(?:model/)?layer_with_weights-(\d+)/(.+)")
# A training loop saves a classifier's own pooler among its items, under the name of the head.
_POOLER_OF_ITEMS = re.compile(r"[^/]+\.\.pooler_dense/(kernel|bias)")


def _by_biases(heads: TaskHeads, output: str) -> TaskHeads:
    """Returns heads whose outputs are counted by their biases, since kernels are [width, outputs]."""
    return dataclasses.replace(heads, outputs=f"{output}.bias")


GARDEN_HEADS = (
    _by_biases(
        pooled_classifier("BertClassifier", "garden.pooler", "garden.classifier"), "garden.classifier"
    ),
    _by_biases(tagger("BertTokenClassifier", "garden.tagger"), "garden.tagger"),
    _by_biases(answerer("BertSpanLabeler", "garden.answerer"), "garden.answerer"),
)


class GardenModel(NamedTuple):
    """Objects of a model that `tf.train.Checkpoint(model=...)` restores, by their attributes below it.

    Attributes:
        output: Layer whose weights are the head's.
        empty: Objects without weights, which a restore asks for.
        others: Further attributes, each with the object that it is too.
    """

    output: str
    empty: tuple[str, ...]
    others: Mapping[str, str]


_INPUTS = ("layer-0", "layer-1", "layer-2", "_config")
GARDEN_MODELS = {
    CLASSES: GardenModel(
        f"{_HEAD}/out_proj",
        (*_INPUTS, "layer-4", f"{_HEAD}/dropout"),
        {"layer-5": _HEAD, "classifier": _HEAD},
    ),
    TAGS: GardenModel(_HEAD, (*_INPUTS, "layer-4"), {"layer-5": _HEAD, "classifier": _HEAD}),
    SPANS: GardenModel(
        f"{_HEAD}/layer_with_weights-0",
        (*_INPUTS, *(f"{_HEAD}/layer-{number}" for number in (0, 2, 3)), "layer-5", "layer-6"),
        {"layer-4": _HEAD, "span_labeling": _HEAD, f"{_HEAD}/layer-1": f"{_HEAD}/layer_with_weights-0"},
    ),
}
# Attributes of each model that are its encoder.
ENCODER_OF_MODELS = ("layer_with_weights-0", "layer-3", "_network", "_config/network", "_config/0")


def in_files(tensors: Mapping[str, Array]) -> tuple[dict[str, Array], GardenModel | None]:
    """Returns tensors by their names in files, and the model with their head; None for an encoder alone.

    The pooler of a classifier goes out as its encoder's.
    """
    scopes = {name.partition("/")[0] for name in tensors}
    model = next((each for scope, each in GARDEN_MODELS.items() if scope in scopes), None)
    places = {POOLER: _POOLER, **{scope: f"model/{each.output}" for scope, each in GARDEN_MODELS.items()}}
    parted = {name: name.partition("/") for name in tensors}
    named = {name: f"{places.get(scope, scope)}/{inner}" for name, (scope, _, inner) in parted.items()}
    return {named[name]: tensor for name, tensor in tensors.items()}, model


def _has_taggers(checkpoint: Checkpoint) -> bool:
    """Returns true unless a checkpoint's release had classifiers alone, whose objects taggers got later.

    Their attention has its output next to it.
    """
    query = checkpoint.file_name("encoder/_transformer_layers/0/_attention_layer/_query_dense/kernel")
    return "_output_dense" in checkpoint.attributes_of(query.partition("/_query_dense/")[0])


def garden_task(checkpoint: Checkpoint) -> Mapping[str, str]:
    """Returns the names of the rules for the head of a fine-tuned model; none for a head that is not here.

    Heads with the same layers are distinguished by the attributes of their model: those of classes had the
    layers of spans in earlier releases, and those of tags too in some. A head that was given to a classifier
    has an activation that no checkpoint holds.
    """
    found = [each for name in checkpoint.names if (each := _LAYER.fullmatch(name))]
    if {each[1] for each in found} != {"1"}:
        return {}
    head = {each[2]: each[0] for each in found}
    own = [each for name in checkpoint.names if (each := _POOLER_OF_ITEMS.fullmatch(name))]
    head |= {f"dense/{each[1]}": each[0] for each in own}
    model = checkpoint.file_name(found[0][0]).partition("layer_with_weights-")[0].rstrip("/")
    attributes = checkpoint.attributes_of(model)
    parts: dict[str, str] = {}
    if attributes & _OF_SPANS:
        parts = {"layer_with_weights-0/": SPANS}
    elif "_cls_head" in attributes or ("layer_with_weights-0/kernel" in head and _has_taggers(checkpoint)):
        return {}
    elif output := next((each for each in _OUTPUTS_OF_CLASSES if f"{each}kernel" in head), ""):
        # The encoder's pooler is read by a classifier that has none.
        poolers = {f"dense/{part}": head.get(f"dense/{part}", f"{_POOLER}/{part}") for part in _PARTS}
        head |= {name: there for name, there in poolers.items() if there in checkpoint}
        parts = {output: CLASSES, "dense/": POOLER}
    elif "classifier" in attributes:
        parts = {"": TAGS}
    if parts.get("") == TAGS and checkpoint.spec(head.get("bias", found[0][0])).shape == (1,):
        # A tagger here has two tags at least.
        return {}
    names = {f"{old}{part}": f"{new}/{part}" for old, new in parts.items() for part in _PARTS}
    return {head[name]: new for name, new in names.items()} if names.keys() == head.keys() else {}
