"""A model in Hugging Face's format becomes a bundle."""

import dataclasses
import os

from firth.interop.given_files import expected_shape
from firth.interop.hugging_face.checkpoint.directory import Directory
from firth.interop.hugging_face.generation import generation_notes
from firth.interop.hugging_face.pooling import read_embedding, transformer_place, without_vectors
from firth.interop.hugging_face.tokenizers import (
    frame_notes,
    read_as_published,
    read_chat_template,
    read_tokenizer,
)
from firth.interop.hugging_face.tokenizers.files import Folder
from firth.interop.hugging_face.weights import incoming_weights
from firth.interop.imported import Imported
from firth.interop.read import Read


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
