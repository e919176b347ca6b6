"""Published ELMo weights, in the files of its reference code and of AllenNLP."""

import json
import os
import pathlib
from collections.abc import Callable
from typing import Any

import keras
import numpy as np

from firth.models.backbones.bilstm import BiLSTMBackbone

# Characters in these files are counted from a word's first byte; 0 is a position without a word, in ours.
_ALPHABET = 261
# Order of the gates in the files, by their place in ours: input, forgetting, output, candidate.
_GATES = (0, 2, 3, 1)
# The reference code adds this to the bias of the forget gate whenever the gate is used.
_FORGET_BIAS = 1.0


class ElmoFileError(ValueError):
    """A file of ELMo weights or options is not valid; names the file and the entry."""


def load_elmo(
    options_path: str | os.PathLike[str], weights_path: str | os.PathLike[str], dtype: Any = None
) -> BiLSTMBackbone:
    """Returns the backbone that published ELMo files hold.

    They hold no softmax: the model gives vectors, and predicts no words. States start from zero with each
    document; to carry them from batch to batch, as AllenNLP does, call `backbone.layer_outputs_with_state`.

    Args:
        options_path: JSON, such as `elmo_2x4096_512_2048cnn_2xhighway_options.json`.
        weights_path: HDF5, such as `elmo_2x4096_512_2048cnn_2xhighway_weights.hdf5`.
        dtype: A Keras dtype or policy; None takes Keras's own default.

    Raises:
        ElmoFileError: if an option or a data set is missing, or has another type or shape than the options
            say.
        OSError: if a file cannot be read.
    """
    import h5py

    shape = read_options(options_path)
    backbone = BiLSTMBackbone(vocabulary_size=1, config=shape, dtype=dtype)
    backbone.build()
    with _opened(h5py.File, weights_path) as file:
        _assign(backbone, shape, _Reader(file, weights_path))
    return backbone


def read_options(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Returns the arguments of `BiLSTMBackbone` in an options file, without the vocabulary's size."""
    try:
        options = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise ElmoFileError(f"{path} is not valid JSON: {error}") from error

    def option(name: str, *kinds: type) -> Any:
        value = options
        for key in name.split("."):
            if not isinstance(value, dict) or key not in value:
                raise ElmoFileError(f"{path} has no option {name!r}")
            value = value[key]
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            raise ElmoFileError(f"{path}: option {name!r} is {value!r}")
        return value

    characters = option("char_cnn.n_characters", int)
    if characters not in (_ALPHABET, _ALPHABET + 1):
        raise ElmoFileError(f"{path}: option 'char_cnn.n_characters' is {characters}, expected 261 or 262")
    return {
        "layers": option("lstm.n_layers", int),
        "cells": option("lstm.dim", int),
        "projection_width": option("lstm.projection_dim", int),
        "characters": {
            "width": option("char_cnn.embedding.dim", int),
            "max_characters": option("char_cnn.max_characters_per_token", int),
            "filters": tuple(tuple(pair) for pair in option("char_cnn.filters", list)),
            "highway_layers": option("char_cnn.n_highway", int),
            "activation": option("char_cnn.activation", str),
        },
        "cell_clip": float(option("lstm.cell_clip", int, float)),
        "projection_clip": float(option("lstm.proj_clip", int, float)),
        "skip_connections": option("lstm.use_skip_connections", bool),
    }


def _opened(opener: Callable[..., Any], path: str | os.PathLike[str]) -> Any:
    if not pathlib.Path(path).exists():
        raise FileNotFoundError(f"there is no file {path}")
    try:
        return opener(path, "r")
    except OSError as error:
        raise ElmoFileError(f"{path} is not an HDF5 file: {error}") from error


class _Reader:
    """Data sets of one file, checked."""

    def __init__(self, file: Any, path: str | os.PathLike[str]) -> None:
        self._file = file
        self._path = path

    def __call__(self, name: str, *shape: int) -> np.ndarray[Any, Any]:
        if name not in self._file:
            raise ElmoFileError(f"{self._path} has no data set {name!r}")
        found = self._file[name]
        if getattr(found, "shape", None) != shape:
            raise ElmoFileError(
                f"{self._path}: data set {name!r} has the shape {getattr(found, 'shape', None)}, and by the "
                f"options it should be {shape}"
            )
        return np.asarray(found, "float32")


def _assign(backbone: BiLSTMBackbone, shape: dict[str, Any], read: _Reader) -> None:
    characters, width = shape["characters"], shape["projection_width"]
    cnn = backbone.char_cnn
    table = read("char_embed", _ALPHABET, characters["width"])
    cnn.table.assign(np.concatenate([np.zeros_like(table[:1]), table]))
    biases = []
    for place, (window, count) in enumerate(characters["filters"]):
        kernel = read(f"CNN/W_cnn_{place}", 1, window, characters["width"], count)
        cnn.kernels[place].assign(kernel[0])
        biases.append(read(f"CNN/b_cnn_{place}", count))
    cnn.bias.assign(np.concatenate(biases))
    for place, highway in enumerate(backbone.highways):
        group, kinds = f"CNN_high_{place}", ("carry", "transform")
        kernels = [read(f"{group}/W_{kind}", cnn.width, cnn.width) for kind in kinds]
        highway.kernel.assign(np.concatenate(kernels, axis=1))
        highway.bias.assign(np.concatenate([read(f"{group}/b_{kind}", cnn.width) for kind in kinds]))
    backbone.projection.kernel.assign(read("CNN_proj/W_proj", cnn.width, width))
    backbone.projection.bias.assign(read("CNN_proj/b_proj", width))
    for place, layer in enumerate(backbone.encoder.layers):
        _assign_lstm(layer, place, shape["cells"], width, read)


def _assign_lstm(layer: keras.layers.Layer, place: int, cells: int, width: int, read: _Reader) -> None:
    parts = []
    for direction in (0, 1):
        group = f"RNN_{direction}/RNN/MultiRNNCell/Cell{place}/LSTMCell"
        kernel = read(f"{group}/W_0", 2 * width, 4 * cells)
        kernel = kernel.T.reshape(4, cells, 2 * width)[_GATES, ...].reshape(4 * cells, 2 * width)
        bias = read(f"{group}/B", 4 * cells).reshape(4, cells)[_GATES, ...]
        bias[1] += _FORGET_BIAS
        parts.append(
            (kernel[:, :width], kernel[:, width:], bias.ravel(), read(f"{group}/W_P_0", cells, width).T)
        )
    weights = layer.input_kernel, layer.recurrent_kernel, layer.bias, layer.projection_kernel
    for weight, both in zip(weights, zip(*parts)):
        weight.assign(np.stack(both))
