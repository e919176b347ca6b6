"""An original checkpoint becomes a bundle."""

import contextlib
import dataclasses
import fnmatch
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from firth import storage
from firth.interop.bundles import Imported, Incoming, beginning_with
from firth.interop.errors import InteropError
from firth.interop.formats import Read
from firth.interop.hugging_face.fine_tuned import HeadChoices, find_heads, task_of
from firth.interop.hugging_face.importing import converted, stored_dtypes
from firth.interop.hugging_face.tensors import Tensors
from firth.interop.hugging_face.tokenizers import read_as_published
from firth.interop.tensorflow.checkpoint import Checkpoint, find_checkpoint
from firth.interop.tensorflow.original import Original
from firth.interop.tensorflow.originals import ORIGINALS
from firth.interop.tensorflow.tokenizers import read_files
from firth.interop.untrusted_files import expected_shape
from firth.recipes.base.errors import first_of
from firth.recipes.run.run_recipe import RunRecipe
from firth.recipes.tasks.task import Task
from firth.storage.tensor_files import TensorSpec

_SHOWN = 12


def import_model(
    path: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    name: str,
    config: str | None = None,
    part: str | None = None,
    begin: str | None = None,
    labels: str | None = None,
    texts: str | None = None,
) -> Read:
    """Writes an original checkpoint as a model bundle, which `firth.models.load_model` reads.

    The family follows from the names of the tensors. The state of optimizers is left out.

    Args:
        path: Path of the folder of the checkpoint, its configuration and its tokenizer, or of the checkpoint.
        folder: Place of the bundle, where nothing is.
        name: Name of the model.
        config: Path of the configuration, where it is in another folder or called otherwise.
        part: `discriminator` or `generator` of an ELECTRA.
        begin: Value of `objective.begin`; that of the paper's code if it is not given.
        labels: Names of the classes of a fine-tuned head, joined by commas; `LABEL_0` and so on if they are
            not given.
        texts: `1` or `2`, the number of texts that a classifier reads together; 1 if it is not given.

    Returns:
        Which weights the checkpoint lacks, so that they are fresh, which tensors have no place, and what else
        differs.

    Raises:
        InteropError: for what cannot be read, or cannot be expressed here, by key or by tensor.
        FileExistsError: if there is something in the bundle's place.
    """
    whole = os.fspath(path)
    home = whole if storage.is_folder(whole) else os.path.dirname(whole)
    with storage.local_copy(home) as local:
        prefix = find_checkpoint(local if home == whole else os.path.join(local, os.path.basename(whole)))
        checkpoint = Checkpoint(prefix)
        original = _original_of(checkpoint, part)
        described, place = _configuration(local, config, original)
        with _naming(place):
            plain = original.read_config(described, checkpoint)
            model = original.family.read_model(plain)
            rows = original.family.plain(plain).get("vocab_size")
            if not isinstance(rows, int) or isinstance(rows, bool):
                raise InteropError(f"vocab_size: {rows!r} is not a number of tokens")
        objective = original.family.objective(original.published_names(checkpoint.names))
        objective = original.objective(checkpoint, model, objective)
        tokenizer, notes = read_files(local, original.tokenizers, original.tokenizer_settings(described))
        objective = read_as_published(objective, local, original.family.model_type, tokenizer)
        task = _task_of(original, checkpoint, model, HeadChoices(labels, texts))
        imported = Imported(
            path=prefix,
            origin=original.title,
            model=model,
            objective=beginning_with(objective, begin, tokenizer, prefix),
            vocabulary_size=rows,
            tokenizer=tokenizer,
            task=task,
        )

        def bring(specs: Mapping[str, TensorSpec], recipe: RunRecipe) -> Incoming:
            return incoming_weights(specs, recipe, original, checkpoint)

        read = imported.write(name, folder, bring)
    return dataclasses.replace(read, notes=(*notes, *_about_states(checkpoint)))


def incoming_weights(
    specs: Mapping[str, TensorSpec], recipe: RunRecipe, original: Original, checkpoint: Checkpoint
) -> Incoming:
    """Returns the weights that a recipe's model gets from a checkpoint's tensors."""
    absent = {name for name in original.optional if name not in checkpoint}
    rules = [rule for rule in original.rules(recipe.model, recipe.goal) if absent.isdisjoint(rule.theirs)]
    rows = (name for rule in rules for name in rule.theirs if name in checkpoint)
    found = dict.fromkeys((*checkpoint.names, *rows))
    tensors = Tensors({name: (checkpoint, name) for name in found})
    stored = stored_dtypes(rules, tensors)
    fresh = tuple(path for path in specs if path not in stored)
    used = {checkpoint.file_name(name) for rule in rules for name in rule.theirs if name in checkpoint}
    files = dict.fromkeys(map(checkpoint.file_name, checkpoint.names))
    surplus = (*(name for name in files if name not in used), *checkpoint.aside)
    # Ties and zeros of Hugging Face's format are not in the originals.
    family = dataclasses.replace(original.family, copies={}, zeros=())
    return Incoming(Read(fresh, surplus, stored), converted(rules, family, tensors, specs, has_output=True))


def _task_of(original: Original, checkpoint: Checkpoint, model: Any, choices: HeadChoices) -> Task | None:
    """Returns the task of a fine-tuned checkpoint; None for one of a pre-trained model."""
    published = {found: name for name in checkpoint.names if (found := original.names.published(name))}
    heads = find_heads(original.family.task_heads, published, model)
    if heads is None:
        choices.check_unused(checkpoint.prefix)
        return None
    tensors = Tensors({found: (checkpoint, name) for found, name in published.items()})
    return task_of(checkpoint.prefix, heads, model, tensors, choices)


def _about_states(checkpoint: Checkpoint) -> Iterable[str]:
    if checkpoint.states:
        count = len(checkpoint.states)
        yield (
            f"left out, since an optimizer's state is of the training alone: {count} "
            f"tensor{'s' * (count > 1)}, {first_of(checkpoint.states)}"
        )


def _original_of(checkpoint: Checkpoint, part: str | None) -> Original:
    """Returns the family whose names a checkpoint has, and removes the scopes before them."""
    scopes = [(original, original.scope_in(checkpoint.names)) for original in ORIGINALS]
    found = [(original, scope) for original, scope in scopes if scope is not None]
    fitting = [(original, scope) for original, scope in found if part in (None, original.part)]
    if fitting:
        original, scope = fitting[0]
        original.name_tensors(checkpoint, scope)
        return original
    if found:
        parts = [original.part for original, _ in found if original.part]
        known = f"it has {' and '.join(parts)}" if parts else f"{found[0][0].title} has no parts"
        raise InteropError(f"part: {part!r} is not in {checkpoint.prefix}; {known}")
    known = "; ".join(f"{each.title} {each.base}{each.anchor}" for each in ORIGINALS)
    raise InteropError(
        f"{checkpoint.prefix} is of no system that is known: it has {first_of(checkpoint.names, _SHOWN)}, "
        f"and would have: {known}"
    )


def _configuration(folder: str, given: str | None, original: Original) -> tuple[dict[str, Any], str]:
    """Returns the configuration, and the path of its file."""
    if given is not None:
        files = [given]
    else:
        names = storage.list_folder(folder)
        files = [
            os.path.join(folder, name)
            for name in sorted(names)
            if any(fnmatch.fnmatch(name, pattern) for pattern in original.files)
        ]
    if not files and not original.needs_config:
        return {}, folder
    if not files:
        raise InteropError(
            f"{folder} holds no {' nor '.join(original.files)}, the configuration of {original.title}; "
            "if it is in another place, --config names it"
        )
    read = {file: original.read(file) for file in files}
    fitting = [file for file, found in read.items() if _fits(found, original)]
    if given is None:
        # The first pattern is the family's own.
        of_patterns = (fnmatch.filter(fitting, os.path.join("*", each)) for each in original.files)
        fitting = next(filter(None, of_patterns), [])
    if len(fitting) > 1:
        raise InteropError(f"{folder} holds {', '.join(fitting)}: --config names the one to take")
    if fitting:
        return read[fitting[0]], fitting[0]
    place, found = next(iter(read.items()))
    if (other := _described_by(found)) is not None and other.needed != original.needed:
        raise InteropError(
            f"{place} describes {other.title}, and the weights are of {original.title}: "
            f"{original.base}{original.anchor} does not fit"
        )
    raise InteropError(f"{place}: {original.lacks(found)[0]}: required, and not there")


def _fits(config: Mapping[str, Any], original: Original) -> bool:
    other = _described_by(config)
    is_own = other is None or other.needed == original.needed or len(other.needed) < len(original.needed)
    return is_own and not original.lacks(config)


def _described_by(config: Mapping[str, Any]) -> Original | None:
    """Returns the family that a configuration describes: the one of those that it suits that needs most."""
    fitting = [each for each in ORIGINALS if each.needed and not each.lacks(config)]
    return max(fitting, key=lambda each: len(each.needed), default=None)


@contextlib.contextmanager
def _naming(place: str) -> Iterator[None]:
    with expected_shape(place):
        try:
            yield
        except InteropError as error:
            sentence = str(error).replace("config.json", "the configuration")
            raise InteropError(f"{place}: {sentence}") from error
        except ValueError as error:
            raise InteropError(f"{place}: holds a value of another kind than is known: {error}") from error
