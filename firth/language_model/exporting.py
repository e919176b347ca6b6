"""Exports of a language model: a SavedModel, other libraries' formats, and those of Keras."""

import functools
import os
import warnings
from collections.abc import Callable, Mapping
from typing import Any

from firth import storage
from firth.interop.formats import FORMATS
from firth.language_model.answers import TextAnswers
from firth.language_model.opening import write_bundle_of
from firth.recipes.base.errors import suggest

_SAVED_MODEL = "saved_model"
_OF_KERAS = ("tf_saved_model", "openvino", "torch", "litert")


def export_model(
    model: TextAnswers, folder: str | os.PathLike[str], format: str, options: Mapping[str, Any]
) -> None:
    """Writes a model in a format.

    Raises:
        FileExistsError: if the folder holds something.
        ValueError: for an unknown format, with the nearest.
    """
    save: dict[str, Callable[[], object]] = {
        _SAVED_MODEL: functools.partial(_export_saved_model, model, folder, **options)
    }
    for name, each in FORMATS.items():
        if each.writes:
            save[name] = functools.partial(_export_bundle, model, each, folder, options)
    for name in _OF_KERAS:
        save[name] = functools.partial(model.network.export, folder, format=name, **options)
    if format not in save:
        raise ValueError(f"format: there is no {format!r}; {suggest(format, save)}")
    save[format]()


def _export_saved_model(model: TextAnswers, folder: str | os.PathLike[str]) -> None:
    from firth.serving.saved_model import export

    export(model.network, model.tokenizer, model.recipe, None, os.fspath(folder))


def _export_bundle(
    model: TextAnswers, format: Any, folder: str | os.PathLike[str], options: Mapping[str, Any]
) -> None:
    with storage.scratch_folder() as scratch:
        bundle = os.path.join(scratch, "bundle")
        write_bundle_of(model, bundle)
        written = format.export_model(bundle, folder, **options)
    for note in written.notes:
        warnings.warn(note, stacklevel=4)
