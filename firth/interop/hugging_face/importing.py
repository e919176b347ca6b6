"""A model in Hugging Face's format becomes a bundle."""

import dataclasses
import itertools
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import keras
import numpy as np

from firth.interop.bundles import Imported, Incoming, beginning_with
from firth.interop.errors import InteropError
from firth.interop.formats import Read
from firth.interop.hugging_face.checkpoint_folder import Directory
from firth.interop.hugging_face.family import Family
from firth.interop.hugging_face.fine_tuned import HeadChoices, read_task
from firth.interop.hugging_face.pooling import read_embedding, transformer_place, without_vectors
from firth.interop.hugging_face.projections import is_of_projection, read_weights
from firth.interop.hugging_face.rules import Array, Rule
from firth.interop.hugging_face.tensors import Tensors, all_finite, holds_exactly
from firth.interop.hugging_face.tokenizers import (
    frame_notes,
    published_end,
    read_as_published,
    read_chat_template,
    read_tokenizer,
)
from firth.interop.hugging_face.tokenizers.files import Folder
from firth.interop.untrusted_files import expected_shape
from firth.models.builders import build_backbone
from firth.models.bundle import specs_of
from firth.recipes.base.errors import first_of
from firth.recipes.goals.goal import Goal, TextFrame
from firth.recipes.run.run_recipe import RunRecipe
from firth.storage.tensor_files import DTYPES, TensorSpec
from firth.tokenizers.piece_tokenizer import PieceTokenizer

_FILE = "generation_config.json"
_START, _END = "decoder_start_token_id", "eos_token_id"
# Older checkpoints call a norm's weights as TensorFlow did.
_OLDER = {".gamma": ".weight", ".beta": ".bias"}
_FLOATING = ("F64", "F32", "F16", "BF16")


def import_model(
    path: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    name: str,
    begin: str | None = None,
    labels: str | None = None,
    texts: str | None = None,
) -> Read:
    """Writes a checkpoint as a model bundle, which `firth.models.load_model` reads.

    Args:
        path: Path of the folder in Hugging Face's format.
        folder: Place of the bundle, where nothing is.
        name: Name of the model.
        begin: Value of `objective.begin`; that of the published tokenizer if it is not given.
        labels: Names of the classes of a fine-tuned head, joined by commas; `id2label` if it is not given.
        texts: `1` or `2`, the number of texts that a classifier reads together; 1 if it is not given.

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
        model = family.of_tensors(directory.model(), tensors)
        if not model.has_encoder:
            plain = embedding.export.model_copy(update={"projections": ()})
            embedding = dataclasses.replace(without_vectors(whole), export=plain)
        objective = read_as_published(family.objective(tensors), path, family.model_type, tokenizer)
        objective = beginning_with(objective, begin, tokenizer, directory.path)
        with expected_shape(directory.path):
            tuned = read_task(
                directory.path,
                directory.config,
                family,
                model,
                tensors,
                HeadChoices(labels, texts),
                TextFrame(
                    objective.text_frame.before,
                    published_end(path, family.model_type, tokenizer),
                ),
            )
        imported = Imported(
            path=directory.path,
            origin=f"{family.model_type} in Hugging Face's format",
            model=model,
            objective=objective,
            vocabulary_size=directory.vocabulary_size,
            tokenizer=tokenizer,
            export=embedding.export,
            task=tuned.task,
            length=length,
            length_key=length_key,
        )
        has_both = bool(imported.model.has_encoder and imported.model.has_decoder)
        with expected_shape(directory.path):
            notes = [
                *directory.notes(),
                *frame_notes(path, family.model_type, tokenizer, imported.objective),
                *said.notes,
                *tuned.notes,
                *embedding.notes,
                *generation_notes(Folder(path), directory.config, imported.objective, tokenizer, has_both),
            ]

        def bring(specs: Mapping[str, TensorSpec], recipe: RunRecipe) -> Incoming:
            own = {path: each for path, each in specs.items() if not is_of_projection(path)}
            incoming = incoming_weights(own, recipe, family, tensors)
            dense = list(read_weights(Folder(whole), embedding.dense, specs))
            stored = {**incoming.read.stored, **{path: dtypes for path, _, dtypes in dense}}
            read = dataclasses.replace(incoming.read, stored=stored)
            return Incoming(read, itertools.chain(incoming.weights, (each[:2] for each in dense)))

        read = imported.write(name, folder, bring)
    return dataclasses.replace(read, notes=tuple(notes))


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


def incoming_weights(
    specs: Mapping[str, TensorSpec], recipe: RunRecipe, family: Family, tensors: Tensors
) -> Incoming:
    """Returns the weights that a recipe's model gets from a checkpoint's tensors.

    Names of a base model's tensors may begin with the family's name. Heads that the checkpoint
    lacks are fresh.
    """
    rules = family.rules(recipe.model, recipe.goal)
    tensors = named(family, rules, tensors)
    stored = stored_dtypes(rules, tensors)
    fresh = tuple(path for path in specs if path not in stored)
    reason = _reason(family, recipe, tensors) if fresh else ""
    read = Read(fresh, tuple(_surplus(family, rules, tensors)), stored, reason=reason)
    return Incoming(read, converted(rules, family, tensors, specs, has_output=True))


def _reason(family: Family, recipe: RunRecipe, tensors: Tensors) -> str:
    """Returns why a head whose tensors are there is fresh; nothing if they are not there."""
    heads = family.not_computed(recipe.model, recipe.goal)
    if heads is None or not all(
        name in tensors for rule in heads.rules(recipe.model) for name in rule.theirs
    ):
        return ""
    return f"{heads.architecture} {heads.otherwise}"


def assign_weights(backbone: keras.Model, rules: Sequence[Rule], family: Family, tensors: Tensors) -> None:
    """Assigns a checkpoint's tensors to a built backbone.

    Raises:
        InteropError: if a tensor is missing, or a shape does not fit.
    """
    variables = {f"backbone/{each.path.split('/', 1)[1]}": each for each in backbone.trainable_variables}
    tensors = named(family, rules, tensors)
    for path, weight in converted(rules, family, tensors, specs_of(variables), has_output=False):
        variables[path].assign(weight)
        # The next one is made without it.
        del weight


def _surplus(family: Family, rules: Sequence[Rule], tensors: Mapping[str, Any]) -> Iterator[str]:
    used = {name for rule in rules for name in rule.theirs} | {*family.copies, *family.zeros}
    return (name for name in tensors if name not in used and not name.endswith(family.unread))


def named(family: Family, rules: Sequence[Rule], tensors: Tensors) -> Tensors:
    """Returns a checkpoint's tensors by the names of rules.

    A base model's lack the family's name in front, and a tied table may have the name of any of its copies.
    """
    names = {_newer(name): name for name in tensors}
    prefix = f"{family.base}."
    if not any(name.startswith(prefix) for name in names):
        of_rules = {name for rule in rules for name in rule.theirs} | set(family.copies.values())
        whole = {name.removeprefix(prefix): name for name in of_rules}
        names = {whole.get(name, name): there for name, there in names.items()}
    # An output table of its own has the name of a copy.
    read = {name for rule in rules for name in rule.theirs}
    for copy, table in family.copies.items():
        if copy in names and table not in names and copy not in read:
            names[table] = names.pop(copy)
    return tensors.renamed(names)


def _newer(name: str) -> str:
    for ending, newer in _OLDER.items():
        if name.endswith(ending):
            return name.removesuffix(ending) + newer
    return name


def converted(
    rules: Sequence[Rule], family: Family, tensors: Tensors, specs: Mapping[str, TensorSpec], has_output: bool
) -> Iterator[tuple[str, Array]]:
    """Yields our weights by path, each made when it is asked for, of which none is kept."""
    problems = list(_not_said(family, rules, tensors) if has_output else ())
    begun = {_part(rule) for rule in rules if all(name in tensors for name in rule.theirs)}
    for rule in rules:
        missing = [name for name in rule.theirs if name not in tensors]
        # A head is fresh as a whole or not at all.
        if missing and (rule.ours.startswith("backbone/") or _part(rule) in begun):
            problems.append(f"no tensor {missing[0]}, which {rule.ours} is made of")
        elif not missing:
            try:
                yield rule.ours, _weight(rule, tensors, specs[rule.ours])
            except _UnfitError as error:
                problems.append(str(error))
    if problems:
        raise InteropError(first_of(problems, separator="; "))


def _part(rule: Rule) -> str:
    """Returns the head that a weight is of."""
    return "/".join(rule.ours.split("/")[:2])


class _UnfitError(Exception):
    """Tensors that do not make a weight."""


def _not_said(family: Family, rules: Sequence[Rule], tensors: Tensors) -> Iterator[str]:
    """Yields which tensors say what the model cannot: an output that is not tied, a bias that is not zero."""
    used = {name for rule in rules for name in rule.theirs}
    for copy, table in family.copies.items():
        both_there = copy not in used and copy in tensors and table in tensors
        if both_there and not tensors.are_same(copy, table):
            yield f"{copy} is not {table}, to which it is tied here"
    for name in family.zeros:
        if name in tensors and any(part.any() for part in tensors.parts(name)):
            yield f"{name} is not zero, and cannot be expressed here"


def _weight(rule: Rule, tensors: Tensors, spec: TensorSpec) -> Array:
    names = ", ".join(rule.theirs)
    stored = {name: tensors.spec(name).dtype for name in rule.theirs}
    given = [tensors[name] for name in rule.theirs]
    if raw := [name for name, dtype in stored.items() if dtype not in _FLOATING]:
        raise _UnfitError(f"{raw[0]} holds no floating-point numbers")
    if len(set(stored.values())) > 1:
        # NumPy joins no bfloat16 with float16; this one holds both.
        wide = np.float64 if "F64" in stored.values() else np.float32
        given = [each.astype(wide) for each in given]
    shapes = ", ".join(f"{name} {list(each.shape)}" for name, each in zip(rule.theirs, given))
    try:
        weight = rule.read(*given)
    except (ValueError, IndexError):
        raise _UnfitError(f"{shapes} do not fit together") from None
    if tuple(weight.shape) != spec.shape:
        raise _UnfitError(f"{shapes} gives {list(weight.shape)}, {rule.ours} is {list(spec.shape)}")
    ours = weight.astype(DTYPES[spec.dtype], copy=False)
    if not all_finite(ours):
        raise _UnfitError(f"{names} holds a number that is not finite")
    if not holds_exactly(ours, weight):
        raise _UnfitError(f"{names} of {weight.dtype} would be rounded to {ours.dtype}")
    return ours


def stored_dtypes(rules: Sequence[Rule], tensors: Tensors) -> dict[str, list[str]]:
    """Returns the dtypes of the tensors that each of our weights is made of, by its path."""
    there = (rule for rule in rules if all(name in tensors for name in rule.theirs))
    return {rule.ours: [tensors.spec(name).dtype for name in rule.theirs] for rule in there}
