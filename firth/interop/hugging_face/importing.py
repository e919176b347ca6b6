"""A model in Hugging Face's format becomes a bundle."""

import dataclasses
import os
from collections.abc import Iterator, Mapping
from typing import Any

import keras

from firth.interop.bundle_writing import Imported
from firth.interop.given_files import expected_shape
from firth.interop.hugging_face.checkpoint_folder import Directory
from firth.interop.hugging_face.pooling import read_embedding, transformer_place, without_vectors
from firth.interop.hugging_face.tokenizers import (
    frame_notes,
    read_as_published,
    read_chat_template,
    read_tokenizer,
)
from firth.interop.hugging_face.tokenizers.files import Folder
from firth.interop.hugging_face.weights import assign_weights, incoming_weights
from firth.interop.messages import Read
from firth.models.build import build_backbone
from firth.recipes.goals.goal import Goal
from firth.tokenizers.piece_tokenizer import PieceTokenizer


def import_model(path: str | os.PathLike[str], folder: str | os.PathLike[str], name: str) -> Read:
    """Writes a checkpoint as a model bundle, which `firth.models.load_model` reads.

    Args:
        path: Path of the folder in Hugging Face's format.
        folder: Place of the bundle, where nothing is.
        name: Name of the model.

    Returns:
        Which weights the checkpoint lacks, so that they are fresh, which tensors have no place, and
            what else differs.

    Raises:
        InteropError: for what cannot be read, or cannot be expressed here, by key or by tensor.
        FileExistsError: if there is something in the bundle's place.
    """
    whole, place = path, transformer_place(path)
    path = os.path.join(path, place) if place else path
    directory, tokenizer = Directory(path), read_tokenizer(path)
    said = read_chat_template(Folder(path), tokenizer)
    tokenizer = tokenizer if said.template is None else tokenizer.with_chat_template(said.template)
    family, embedding = directory.family, read_embedding(whole, tokenizer)
    length, length_key = directory.length()
    if embedding.length:
        length, length_key = embedding.length, embedding.length_key
    with directory.tensors() as tensors:
        imported = Imported(
            path=directory.path,
            origin=f"{family.model_type} in Hugging Face's format",
            model=family.of_tensors(directory.model(), tensors),
            objective=read_as_published(family.objective(tensors), path, family.model_type, tokenizer),
            vocabulary_size=directory.vocabulary_size,
            tokenizer=tokenizer,
            export=embedding.export,
            length=length,
            length_key=length_key,
        )
        has_both = bool(imported.model.has_encoder and imported.model.has_decoder)
        if not imported.model.has_encoder:
            embedding = without_vectors(whole)
        with expected_shape(directory.path):
            notes = [
                *directory.notes(),
                *frame_notes(path, family.model_type, tokenizer, imported.objective),
                *said.notes,
                *embedding.notes,
                *generation_notes(Folder(path), directory.config, imported.objective, tokenizer, has_both),
            ]
        read = imported.write(
            name, folder, lambda specs, recipe: incoming_weights(specs, recipe, family, tensors)
        )
    return dataclasses.replace(read, notes=tuple(notes))


_FILE = "generation_config.json"
_START, _END = "decoder_start_token_id", "eos_token_id"


def generation_notes(
    folder: Folder, config: Mapping[str, Any], goal: Goal, tokenizer: PieceTokenizer, has_both: bool
) -> Iterator[str]:
    """Yields what of generation stays outside: files, further ends, and another start of a decoder."""
    if folder.holds(_FILE):
        keys = ", ".join(key for key in folder.mapping(_FILE) if not key.startswith(("_", "transformers_")))
        yield f"{_FILE} is not read, and does not go out again: {keys}"
    ends = config.get(_END)
    ends = ends if isinstance(ends, list) else [ends] if isinstance(ends, int) and goal.text_end else []
    if set(ends) - {tokenizer.sep_id}:
        theirs = " or ".join(_named(each, tokenizer) for each in ends)
        yield (
            f"{_END}: texts end at {theirs} in the published model, here at "
            f"{_named(tokenizer.sep_id, tokenizer)} alone"
        )
    start = config.get(_START)
    if start is None or not has_both:
        return
    piece = tokenizer.specials.by_role[goal.decoder_start[0]]
    if start != tokenizer.token_to_id(piece):
        yield f"{_START}: the published decoder starts from {start}, here it starts from {piece!r}"


def _named(index: Any, tokenizer: PieceTokenizer) -> str:
    """Returns a piece by its name, or the id of a row without one."""
    is_piece = isinstance(index, int) and 0 <= index < tokenizer.vocabulary_size()
    return repr(tokenizer.id_to_token(index)) if is_piece else str(index)


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
