"""A bundle becomes an object checkpoint of one of Model Garden's encoders, with its YAML."""

import os
import types
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from firth import storage
from firth.interop.bundles import recipe_of
from firth.interop.errors import InteropError
from firth.interop.formats import Written
from firth.interop.hugging_face.exporting import Outgoing
from firth.interop.hugging_face.rules import Array, Rule
from firth.interop.tensorflow.model_garden import CHECKPOINT, KEYS, MODEL_GARDEN, PARAMETERS
from firth.interop.tensorflow.model_garden_heads import ENCODER_OF_MODELS, GardenModel, in_files
from firth.interop.tensorflow.numbered_layers import ALBERT_LAYERS, MODEL_GARDEN_ALBERT
from firth.interop.tensorflow.original import Original
from firth.interop.tensorflow.task_heads import about_classes
from firth.interop.tensorflow.tokenizers import write_files
from firth.models.bundle import TOKENIZER_FOLDER, open_weights, stored_dtypes
from firth.recipes.base.errors import first_of
from firth.tokenizers import load_tokenizer


class _Network(NamedTuple):
    """Objects of an encoder, by their attributes below it, and the keys of its YAML.

    Attributes:
        original: Names of its tensors, by the attributes of `BertEncoderV2`.
        type: Its type in the YAML.
        keys: Keys of the YAML, each with that of Hugging Face's format.
        block: Attribute of a block, with a place for its number.
        empty: Objects without weights, which a restore asks for.
        layers: Attributes of `BertEncoderV2` that have another name here.
        inputs: Attributes of a fine-tuned model that are objects of its encoder.
    """

    original: Original
    type: str
    keys: Mapping[str, str]
    block: str
    empty: tuple[str, ...]
    layers: Mapping[str, str] = types.MappingProxyType({})
    inputs: Mapping[str, str] = types.MappingProxyType({})

    def differences(self, model: Any) -> list[str]:
        """Returns sentences about what the encoder cannot express of a model."""
        # Some configurations have no key for dropout.
        found = self.original.family.differences(model)
        found = [each for each in found if "dropout" not in each.partition(":")[0]]
        if found:
            return found
        config = self.original.family.write_config(model)
        if {config.get("num_hidden_groups", 1), config.get("inner_group_num", 1)} != {1}:
            return ["model.share_layers: its blocks are one"]
        if "_embedding_projection" in self.layers and config["embedding_size"] == config["hidden_size"]:
            return [f"model.embeddings.width: it has no projection from {model.width} to {model.width}"]
        return []


_CONFIG = "_config/initializer/config"
_BERT = _Network(
    MODEL_GARDEN,
    "bert",
    KEYS,
    "_transformer_layers/{}",
    ("_embedding_dropout", "_attention_mask_layer", _CONFIG, "inputs"),
)
_ALBERT = _Network(
    MODEL_GARDEN_ALBERT,
    "albert",
    {"embedding_width" if key == "embedding_size" else key: each for key, each in KEYS.items()},
    "layer_with_weights-5",
    # Inputs, and layers between those with weights.
    (*(f"layer-{number}" for number in (0, 2, 5, 7, 9, 10, 12)), _CONFIG),
    ALBERT_LAYERS,
    {"layer-0": "layer-0", "layer-1": "layer-9", "layer-2": "layer-2"},
)
# Objects of each block that have no weights.
_EMPTY_OF_LAYERS = (
    "_attention_dropout",
    "_intermediate_activation_layer",
    "_inner_dropout_layer",
    "_output_dropout",
    "_attention_layer/_softmax",
    "_attention_layer/_dropout_layer",
)


def export_model(bundle: str | os.PathLike[str], folder: str | os.PathLike[str]) -> Written:
    """Writes a BERT or an ALBERT as the checkpoint that `tf.train.Checkpoint(encoder=...)` restores.

    With the head of a task, `tf.train.Checkpoint(model=...)` restores Model Garden's model of it whole.

    Args:
        bundle: Path of the bundle.
        folder: Place of the folder, where nothing is.

    Returns:
        The files that were written, and what they lack: other heads do not go along.

    Raises:
        InteropError: if there is no bundle, or Model Garden's encoder cannot express the model, with the key.
        FileExistsError: if there is something in the folder's place.
    """
    recipe = recipe_of(bundle)
    network = _network_of(recipe.model)
    original = network.original
    tokenizer = load_tokenizer(os.path.join(bundle, TOKENIZER_FOLDER))
    with open_weights(bundle) as weights:
        rules = [rule for rule in original.rules(recipe.model, recipe.goal) if _goes_out(rule, weights)]
        left = {path for path in set(weights) - {rule.ours for rule in rules} if "/pooler/" not in path}
        outgoing = Outgoing(rules, weights, stored_dtypes(weights))
        tensors, head = in_files(dict(outgoing.tensors(list(outgoing.specs))))
        about_pooler = _with_pooler(tensors, weights, recipe.model.width, recipe.seed)
    notes = [f"left out, since its encoder has no place for them: {first_of(sorted(left))}"] if left else []
    notes += about_classes(recipe.goal) if head else []
    notes += original.notes(recipe.model) + about_pooler
    config = {**original.family.write_config(recipe.model), "vocab_size": recipe.tokenizer.vocabulary_size}
    with storage.whole_folder(folder) as unfinished:
        tree = _objects(tensors, recipe.model.layers, network, head)
        tf.train.Checkpoint(**tree).write(os.path.join(unfinished, CHECKPOINT))
        storage.write_text(os.path.join(unfinished, PARAMETERS), _yaml(config, network))
        _, about = write_files(tokenizer, unfinished, original.tokenizers)
        files = tuple(storage.files_below(unfinished))
    return Written(files, (*notes, *about))


def _network_of(model: Any) -> _Network:
    """Returns the encoder that can express a model.

    Raises:
        InteropError: if neither encoder can, with the first key that the nearest one lacks.
    """
    found = [(each, each.differences(model)) for each in (_BERT, _ALBERT)]
    network, differences = min(found, key=lambda each: len(each[1]))
    if differences:
        raise InteropError(f"{network.original.title}: {differences[0]}")
    return network


def _goes_out(rule: Rule, weights: Mapping[str, Array]) -> bool:
    """Returns true for the weights of the encoder, of a task's head, and of the pooler, which it has too."""
    return rule.ours.startswith(("backbone/", "heads/dense/")) or (
        rule.ours.startswith("heads/pooler/") and rule.ours in weights
    )


def _with_pooler(tensors: dict[str, Array], weights: Mapping[str, Array], width: int, seed: int) -> list[str]:
    """Adds the encoder's pooler: that of the model's heads, or one made from the seed."""
    own, theirs = "heads/pooler/dense/", "encoder/_pooler_layer/"
    for part in ("kernel", "bias"):
        # In a pre-trainer, the head of pairs has it.
        tensors.pop(f"classification_heads/0/dense/{part}", None)
        if f"{own}{part}" in weights:
            tensors.setdefault(f"{theirs}{part}", np.array(weights[f"{own}{part}"]))
    if f"{theirs}kernel" in tensors:
        return []
    kernel = np.random.default_rng(seed).normal(scale=0.02, size=(width, width))
    tensors[f"{theirs}kernel"] = kernel.astype("float32")
    tensors[f"{theirs}bias"] = np.zeros(width, "float32")
    return ["made from the recipe's seed, since the model has none: encoder/_pooler_layer"]


def _objects(
    tensors: Mapping[str, Array], layers: int, network: _Network, head: GardenModel | None
) -> dict[str, Any]:
    """Returns objects with the attributes of Model Garden's, which hold the tensors."""
    root = _Node()
    for name, tensor in tensors.items():
        for ours, theirs in network.layers.items():
            name = name.replace(f"encoder/{ours}/", f"encoder/{theirs}/")
        *parents, last = name.split("/")
        setattr(_node(root, parents), last, tf.Variable(tensor, name=last))
    blocks = {network.block.format(number) for number in range(layers)}
    for path in (*network.empty, *(f"{block}/{each}" for block in blocks for each in _EMPTY_OF_LAYERS)):
        _node(root, ["encoder", *path.split("/")])
    if head:
        for path in head.empty:
            _node(root, ["model", *path.split("/")])
        same = {name: f"model/{path}" for name, path in head.others.items()}
        same |= {name: f"encoder/{path}" for name, path in network.inputs.items()}
        for name, path in {**dict.fromkeys(ENCODER_OF_MODELS, "encoder"), **same}.items():
            *parents, last = name.split("/")
            setattr(_node(root, ["model", *parents]), last, _node(root, path.split("/")))
    return {name: each for name, each in vars(root).items() if isinstance(each, tf.Module)}


class _Node(tf.Module):
    """An object with attributes that are saved, and nothing else."""


def _node(root: Any, parts: Iterable[str]) -> Any:
    for part in parts:
        if part.isdigit():
            while len(root) <= int(part):
                root.append(_Node())
            root = root[int(part)]
        else:
            if part not in vars(root):
                setattr(
                    root, part, [] if part in ("_transformer_layers", "classification_heads") else _Node()
                )
            root = getattr(root, part)
    return root


def _yaml(config: Mapping[str, Any], network: _Network) -> str:
    values = {theirs: config[published] for theirs, published in network.keys.items() if published in config}
    values["hidden_activation"] = str(values["hidden_activation"]).replace("gelu_new", "gelu")
    lines = "".join(f"        {key}: {value}\n" for key, value in values.items())
    return f"task:\n  model:\n    encoder:\n      type: {network.type}\n      {network.type}:\n{lines}"
