"""The module `Dense` of sentence-transformers: a projection of a text's vector, with its activation."""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from firth import storage
from firth.interop.errors import InteropError
from firth.interop.hugging_face.checkpoint_folder import WEIGHTS_FILE
from firth.interop.hugging_face.rules import Array, Rule, linear
from firth.interop.hugging_face.tensors import all_finite
from firth.interop.hugging_face.tokenizers.files import Folder
from firth.recipes.training.export import Projection
from firth.storage.tensor_files import DTYPES, TensorSpec, open_tensors, spec_of, write_tensors

CONFIG_FILE = "config.json"
# By the last part of the name of a class of torch.
ACTIVATIONS: dict[str, Any] = {
    "Identity": "linear",
    "Tanh": "tanh",
    "ReLU": "relu",
    "GELU": "gelu",
    "SiLU": "silu",
    "Sigmoid": "sigmoid",
}
# As `torch.nn.modules` has them.
_PLACES = {"Identity": "linear"}
_PATH = "projections/projection_{}"
_KEYS = ("in_features", "out_features", "bias", "activation_function")
# Which vector a module reads and writes, in releases from 5 on.
_VECTOR_KEYS = ("module_input_name", "module_output_name")
_VECTOR = "sentence_embedding"


def read_projection(folder: Folder, place: str) -> Projection:
    """Returns the projection that the configuration of a module describes.

    Raises:
        InteropError: for a key or a value that cannot be expressed here.
    """
    name = os.path.join(place, CONFIG_FILE)
    said, file = folder.mapping(name), folder.place(name)
    for key, value in said.items():
        if key in _VECTOR_KEYS and value not in (None, _VECTOR):
            raise InteropError(f"{file}: {key}: {value!r} cannot be expressed here, {_VECTOR!r} can")
        if key not in (*_KEYS, *_VECTOR_KEYS):
            raise InteropError(f"{file}: {key}: {value!r} cannot be expressed here")
    activation = str(said.get("activation_function", "torch.nn.modules.activation.Tanh")).rpartition(".")[2]
    if activation not in ACTIVATIONS:
        known = " or ".join(ACTIVATIONS)
        raise InteropError(
            f"{file}: activation_function: {said['activation_function']!r} cannot be expressed here, "
            f"{known} can"
        )
    width, bias = said.get("out_features"), said.get("bias", True)
    if not isinstance(width, int) or isinstance(width, bool) or width < 1:
        raise InteropError(f"{file}: out_features: {width!r} is not a width")
    if not isinstance(bias, bool):
        raise InteropError(f"{file}: bias: {bias!r} is neither true nor false")
    return Projection(width=width, activation=ACTIVATIONS[activation], bias=bias)


def projection_rules(number: int, biases: bool) -> list[Rule]:
    """Returns the rules of the tensors of a module."""
    return list(linear("linear", _PATH.format(number), biases))


def read_weights(
    folder: Folder, places: Sequence[str], specs: Mapping[str, TensorSpec]
) -> Iterator[tuple[str, Array, list[str]]]:
    """Yields the weights of all modules by path, with the dtypes of their tensors.

    Args:
        places: Places of the modules in the folder, in their order.
        specs: Dtypes and shapes of the model's weights by path.

    Raises:
        InteropError: for a tensor that is missing, that has no place, or that does not fit.
    """
    for number, place in enumerate(places):
        name = os.path.join(place, WEIGHTS_FILE)
        file = folder.place(name)
        if not folder.holds(name):
            raise InteropError(
                f"{file} is missing: weights of a module are read as safetensors alone, for a pickle can run "
                "any code; sentence_transformers writes them with save(..., safe_serialization=True)"
            )
        rules = projection_rules(number, f"{_PATH.format(number)}/bias" in specs)
        with storage.local_copy(file) as local:
            tensors = open_tensors(local, InteropError, file)
            given = {each for rule in rules for each in rule.theirs}
            if wrong := sorted(given ^ set(tensors)):
                there = "is missing" if wrong[0] in given else "has no place here"
                raise InteropError(f"{file}: the tensor {wrong[0]} {there}")
            for rule in rules:
                (source,) = rule.theirs
                yield rule.ours, _weight(file, rule, tensors[source], specs), [tensors.spec(source).dtype]


def _weight(file: str, rule: Rule, tensor: Array, specs: Mapping[str, TensorSpec]) -> Array:
    weight, spec = rule.read(tensor), specs[rule.ours]
    if tuple(weight.shape) != spec.shape:
        wanted = list(rule.write(np.zeros(spec.shape, np.int8))[0].shape)
        raise InteropError(
            f"{file}: {rule.theirs[0]} is {list(tensor.shape)}, and {wanted} follows the vectors before it"
        )
    made = weight.astype(DTYPES[spec.dtype], copy=False)
    if not all_finite(made):
        raise InteropError(f"{file}: {rule.theirs[0]} holds a number that is not finite")
    return made


def write_projection(
    folder: str, place: str, number: int, projection: Projection, weights: Mapping[str, Array]
) -> list[str]:
    """Writes a module, and returns its files.

    Args:
        place: Place of the module in the folder.
        number: Number of the projection, from 0.
        weights: The bundle's weights by path.
    """
    made = {
        name: np.ascontiguousarray(tensor)
        for rule in projection_rules(number, projection.bias)
        for name, tensor in zip(rule.theirs, rule.write(weights[rule.ours]), strict=True)
    }
    (activation,) = (name for name, ours in ACTIVATIONS.items() if ours == projection.activation)
    module = _PLACES.get(activation, "activation")
    config = {
        "in_features": made["linear.weight"].shape[1],
        "out_features": projection.width,
        "bias": projection.bias,
        "activation_function": f"torch.nn.modules.{module}.{activation}",
    }
    files = [os.path.join(place, name) for name in (CONFIG_FILE, WEIGHTS_FILE)]
    storage.write_json(os.path.join(folder, files[0]), config, indent=2)
    specs = {name: spec_of(tensor) for name, tensor in made.items()}
    write_tensors(os.path.join(folder, files[1]), specs, made.items(), {"format": "pt"})
    return files


def is_of_projection(path: str) -> bool:
    """Returns whether a weight of a bundle is one of a projection."""
    return path.startswith(_PATH.partition("/")[0] + "/")
