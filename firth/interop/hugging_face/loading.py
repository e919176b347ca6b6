"""Backbones of published checkpoints."""

import os
from typing import Any

import keras

from firth.interop.hugging_face.checkpoint.directory import Directory
from firth.interop.hugging_face.weights import assign_weights
from firth.models.build import build_backbone


def load_backbone(path: str | os.PathLike[str], dtype: Any = None) -> keras.Model:
    """Returns the backbone of a checkpoint in Hugging Face's format, with its weights.

    BERT, RoBERTa, ALBERT, ELECTRA, DeBERTa v2 and v3, XLNet, GPT-2, Llama, T5 and BART, of any size. Its
    hidden states are those of transformers' base model. Nothing is unpickled: weights are safetensors.

    Args:
        path: Path of the folder of `config.json` and `model.safetensors`, or its shards.
        dtype: A Keras dtype or policy; None takes Keras's own default.

    Raises:
        firth.interop.errors.InteropError: if a file is missing or damaged, the configuration says what cannot
            be expressed here, or a tensor is missing or has another shape, each by name.

    Example:

    >>> backbone = load_backbone("all-MiniLM-L6-v2")  # doctest: +SKIP
    >>> backbone.width, backbone(features).shape  # doctest: +SKIP
    (384, TensorShape([2, 9, 384]))
    """
    directory = Directory(path)
    family = directory.family
    model = directory.model()
    backbone = build_backbone(model, directory.vocabulary_size, dtype)
    with directory.tensors() as tensors:
        assign_weights(backbone, family.backbone_rules(model), family, tensors)
    return backbone
