"""A bundle becomes an original checkpoint."""

import dataclasses
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import numpy as np

from firth import storage
from firth.interop.bundles import about_untrained, recipe_of, untrained_heads
from firth.interop.errors import InteropError
from firth.interop.formats import Written
from firth.interop.hugging_face.exporting import Outgoing
from firth.interop.hugging_face.rules import Array
from firth.interop.tensorflow.checkpoint import write_checkpoint, write_state
from firth.interop.tensorflow.original import Original
from firth.interop.tensorflow.originals import PAPERS
from firth.interop.tensorflow.task_heads import about_classes
from firth.interop.tensorflow.tokenizers import write_files
from firth.models.bundle import TOKENIZER_FOLDER, open_weights, stored_dtypes
from firth.recipes.base.errors import first_of, suggest
from firth.recipes.run.run_recipe import RunRecipe
from firth.storage.tensor_files import TensorSpec
from firth.tokenizers import load_tokenizer

_ROW = re.compile(r"(.*)\[(\d+)\]")


def export_model(
    bundle: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    heads: str | None = None,
    family: str | None = None,
) -> Written:
    """Writes a bundle's model as the checkpoint that the code of its paper continues from.

    Args:
        bundle: Path of the bundle.
        folder: Place of the folder, where nothing is.
        heads: `untrained` to write heads that nobody has trained; None to leave them out.
        family: `bert`, `electra` and so on, where a fine-tuned model may be of two and its base is gone.

    Returns:
        The files that were written, and what they lack or have otherwise.

    Raises:
        InteropError: if there is no bundle, or no original can express the model, with the nearest and the
            key in its way.
        FileExistsError: if there is something in the folder's place.
    """
    recipe = recipe_of(bundle)
    original = original_of(recipe, family)
    tokenizer = load_tokenizer(os.path.join(bundle, TOKENIZER_FOLDER))
    untrained = untrained_heads(bundle, heads)
    rules = [
        dataclasses.replace(
            rule, theirs=tuple(original.written_name(name, recipe.name) for name in rule.theirs)
        )
        for rule in original.rules(recipe.model, recipe.goal)
        if rule.ours not in untrained
    ]
    with open_weights(bundle) as weights:
        outgoing = Outgoing(rules, weights, stored_dtypes(weights))
        notes = [*_left_out(set(weights) - untrained - {rule.ours for rule in rules})]
        config = {
            **original.family.write_config(recipe.model),
            "vocab_size": recipe.tokenizer.vocabulary_size,
        }
        notes += original.notes(recipe.model)
        notes += _about_scope(original, recipe)
        if any(rule.ours.startswith("heads/dense/") for rule in rules):
            notes += about_classes(recipe.goal)
        with storage.whole_folder(folder) as unfinished:
            place = os.path.join(unfinished, original.written_config)
            storage.write_text(place, original.write(original.write_config(config)))
            prefix = os.path.join(unfinished, original.checkpoint)
            files = write_checkpoint(prefix, _whole(outgoing.specs), lambda names: _joined(outgoing, names))
            # TensorFlow finds no checkpoint of a folder without it, and so does the code of GPT-2.
            files.append(write_state(prefix))
            written, about = write_files(tokenizer, unfinished, original.tokenizers)
    return Written((original.written_config, *files, *written), (*notes, *about, *about_untrained(untrained)))


def original_of(recipe: RunRecipe, family: str | None = None) -> Original:
    """Returns the original that can express a model, with its heads if there is one that has them.

    Args:
        recipe: Recipe of the model.
        family: Hugging Face's type of the originals to take, such as `electra`; None for all.

    Raises:
        InteropError: if no original can, an unknown one is named, or nothing in the bundle decides between
            two.
    """
    types = [each.family.model_type for each in PAPERS]
    if family not in (None, *types):
        raise InteropError(f"family: {family!r} is not known; {suggest(str(family), dict.fromkeys(types))}")
    papers = [each for each in PAPERS if family in (None, each.family.model_type)]
    in_the_way = {each.title: _differences(each, recipe) for each in papers}
    # A masked LM is a BERT before it is a part of an ELECTRA.
    able = sorted((each for each in papers if not in_the_way[each.title]), key=lambda each: bool(each.part))
    if able:
        with_heads = [each for each in able if each.family.heads_of(recipe.model, recipe.goal)]
        if recipe.goal_key == "task":
            return _of_origin(_origin(recipe), able, with_heads)
        return next(iter(with_heads), able[0])
    nearest = min(in_the_way, key=lambda title: _distance(in_the_way[title]))
    raise InteropError(
        f"no original can express this model; the nearest is {nearest}: {in_the_way[nearest][0]}"
    )


def _of_origin(origin: str, able: Sequence[Original], with_heads: Sequence[Original]) -> Original:
    """Returns the original of a fine-tuned model, of those that can express it: heads of tasks differ."""
    if of_origin := [each for each in able if each.family.model_type == origin]:
        return next((each for each in of_origin if each in with_heads), of_origin[0])
    if with_heads and able[0] not in with_heads:
        one, other = able[0], with_heads[0]
        raise InteropError(
            f"neither the bundle nor its base says whether this is a {one.title}, which has no such head, or "
            f"a {other.title}: --option family={one.family.model_type} or "
            f"family={other.family.model_type} does"
        )
    return able[0]


def _origin(recipe: RunRecipe) -> str:
    """Returns Hugging Face's type of the model or the base that was imported; empty if it is unknown."""
    if (base := getattr(recipe, "base", None)) is not None:
        try:
            return _origin(recipe_of(base.bundle))
        except InteropError:
            # A base may be gone once the model is trained.
            return ""
    title = str(getattr(recipe, "task_imported_from", "") or getattr(recipe, "imported_from", ""))
    types = (each.family.model_type for each in PAPERS)
    if found := next((each for each in types if re.search(rf"\b{each}", title.lower())), None):
        return found
    # A model that was pre-trained here is that of its objective.
    return "" if recipe.goal_key == "task" else original_of(recipe).family.model_type


def _differences(original: Original, recipe: RunRecipe) -> list[str]:
    # Some configurations have no key for dropout, which changes nothing of what is computed.
    found = original.family.differences(recipe.model)
    return [each for each in found if "dropout" not in each.partition(":")[0]]


def _distance(differences: Sequence[str]) -> tuple[bool, bool, int]:
    is_unread = differences[0].startswith("model: ")
    return is_unread, any(each.startswith("model.kind:") for each in differences), len(differences)


def _left_out(paths: Collection[str]) -> Iterator[str]:
    if of_backbone := sorted(path for path in paths if path.startswith("backbone/")):
        raise InteropError(f"no rule for {of_backbone[0]}")
    if paths:
        yield f"left out, since the original has no place for them: {first_of(sorted(paths))}"


def _about_scope(original: Original, recipe: RunRecipe) -> Iterator[str]:
    """Yields a note about the scope that has the name of the model."""
    names = [name for rule in original.rules(recipe.model, recipe.goal) for name in rule.theirs]
    # A name that depends on the model's is that of its task.
    written = [original.written_name(each, recipe.name) for each in names]
    of_models = (there for each, there in zip(names, written) if original.written_name(each, "") != there)
    if name := next(of_models, None):
        scope = "/".join(name.split("/")[:2])
        yield f"name: the model's is that of the task in the names of the head's tensors, {scope}"


def _whole(specs: Mapping[str, TensorSpec]) -> dict[str, TensorSpec]:
    """Returns the specs of tensors whose rows are made one by one."""
    whole: dict[str, TensorSpec] = {}
    for name, spec in specs.items():
        if found := _ROW.fullmatch(name):
            rows = int(found[2]) + 1
            whole[found[1]] = TensorSpec(spec.dtype, (rows, *spec.shape))
        else:
            whole[name] = spec
    return whole


def _joined(outgoing: Outgoing, names: Iterable[str]) -> Iterator[tuple[str, Array]]:
    wanted = set(names)
    rows: dict[str, list[Array]] = {}
    for name, tensor in outgoing.tensors(
        [each for each in outgoing.specs if each.partition("[")[0] in wanted]
    ):
        if found := _ROW.fullmatch(name):
            rows.setdefault(found[1], []).append(tensor)
        else:
            yield name, tensor
    for name, parts in rows.items():
        yield name, np.stack(parts)
