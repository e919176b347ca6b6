"""The base of a recipe that is another library's folder, which is imported once and found again."""

import dataclasses
import logging
import os
import re
from collections.abc import Callable

from firth import storage
from firth.interop.errors import InteropError
from firth.interop.formats import Format, format_of
from firth.recipes.reading.bundles import NoBundleError, digest_of_bundle
from firth.storage.published_models import import_command

_LOG = logging.getLogger(__name__)
_SHOWN = 5
_OTHERS = re.compile(r"[^A-Za-z0-9_-]+")
_MAX_NAME = 60


def imported_base(path: str, root: str, report: Callable[[str], None] = _LOG.warning) -> str | None:
    """Returns the folder of the bundle of another library's folder, which is imported at the first call.

    The bundle is in a folder of the runs that is called after the imported folder and the digest of its
    files, so that a changed one is imported anew.

    Args:
        path: Full path of the folder, or of a checkpoint in it.
        root: Folder of all runs.
        report: Receives a sentence about a new import, and one about weights without a counterpart, if any.

    Returns:
        The bundle's folder; None if the path is that of no format from which models come in.

    Raises:
        firth.recipes.reading.bundles.NoBundleError: if it cannot be imported, with the command for an option
            that it needs.
    """
    path = path.rstrip("/")
    found = format_of(path)
    if found is None:
        return None
    home = path if storage.is_folder(path) else os.path.dirname(path)
    name = _name(path, home, found)
    run = os.path.join(root, f"{name}-{digest_of_bundle(home)[:12]}")
    if not storage.is_whole(run):
        for sentence in _import(found, path, run, name):
            report(sentence)
    return os.path.join(run, storage.BUNDLE_FOLDER)


def _import(found: Format, path: str, run: str, name: str) -> list[str]:
    """Writes a folder among the runs whole or not at all, and returns sentences about it."""
    try:
        with storage.whole_folder(run) as unfinished:
            read = found.import_model(path, os.path.join(unfinished, storage.BUNDLE_FOLDER), name)
    except InteropError as error:
        needed = [option for option in found.choices if f"--{option} " in str(error)]
        command = import_command(found.name, path, needed)
        advice = f"; import it by {command}, and name it in `base`" if needed else ""
        raise NoBundleError(f"{error}{advice}") from error
    except OSError as error:
        # Another process may have imported it meanwhile.
        if storage.is_whole(run):
            return []
        raise NoBundleError(f"{path} is not imported: {error}") from error
    about_weights = dataclasses.replace(read, notes=(), length=None)
    return [f"{path} is imported as {run}", *about_weights.sentences(_SHOWN)]


def _name(path: str, home: str, found: Format) -> str:
    """Returns a name for a folder, or for a checkpoint in it."""
    file = [] if path == home else [os.path.basename(path.removesuffix(found.file_ending))]
    name = "_".join([os.path.basename(home), *file])
    return _OTHERS.sub("_", name).lstrip("-")[:_MAX_NAME] or found.name
