"""The base of a recipe that is another library's folder, which is imported once and found again."""

import dataclasses
import logging
import os
import re
from collections.abc import Callable, Iterator

from firth import storage
from firth.interop.errors import InteropError
from firth.interop.formats import Format, format_of
from firth.recipes.reading.bundles import NoBundleError, digest_of_files
from firth.storage.published_models import import_command

_LOG = logging.getLogger(__name__)
_SHOWN = 5
_OTHERS = re.compile(r"[^A-Za-z0-9_-]+")
_OF_CHECKPOINT = re.compile(r"(.+)\.(?:index|meta|data-\d{5}-of-\d{5})")
_MAX_NAME = 60


def imported_base(path: str, root: str, report: Callable[[str], None] = _LOG.warning) -> str | None:
    """Returns the folder of the bundle of another library's folder, which is imported at the first call.

    The bundle is in a folder of the runs that is called after the imported folder and the digest of its
    files, so that a changed one is imported anew. Hidden files, runs and other checkpoints than the one at
    the path are no part of the digest.

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
    found = find_foreign(path, root)
    if found is None:
        return None
    if not found.is_imported:
        for sentence in found.import_it():
            report(sentence)
    return found.bundle


@dataclasses.dataclass(frozen=True)
class ForeignBase:
    """A model in another library's format, and the place of its bundle.

    Attributes:
        path: Full path of the folder, or of a checkpoint in it.
        format: Its format.
        name: Name of the imported model.
        run: Folder among the runs that holds the bundle once it is imported.
    """

    path: str
    format: Format
    name: str
    run: str

    @property
    def bundle(self) -> str:
        """The bundle's folder."""
        return os.path.join(self.run, storage.BUNDLE_FOLDER)

    @property
    def is_imported(self) -> bool:
        """True if the bundle is there."""
        return storage.is_whole(self.run)

    def import_it(self) -> list[str]:
        """Writes the folder among the runs whole or not at all, and returns sentences about it."""
        try:
            with storage.whole_folder(self.run) as unfinished:
                bundle = os.path.join(unfinished, storage.BUNDLE_FOLDER)
                read = self.format.import_model(self.path, bundle, self.name)
        except InteropError as error:
            needed = [option for option in self.format.choices if f"--{option} " in str(error)]
            command = import_command(self.format.name, self.path, needed)
            advice = f"; import it by {command}, and name it in `base`" if needed else ""
            raise NoBundleError(f"{error}{advice}") from error
        except OSError as error:
            # Another process may have imported it meanwhile.
            if self.is_imported:
                return []
            raise _not_imported(self.path, error) from error
        about_weights = dataclasses.replace(read, notes=(), length=None)
        return [f"{self.path} is imported as {self.run}", *about_weights.sentences(_SHOWN)]


def find_foreign(path: str, root: str) -> ForeignBase | None:
    """Returns the model of another library at a path; None if it is that of no format that is read."""
    path = os.path.normpath(path) if storage.is_local(path) else path.rstrip("/")
    found = format_of(path)
    if found is None:
        return None
    home = path if storage.is_folder(path) else os.path.dirname(path)
    name = _name(path, home, found)
    try:
        digest = digest_of_files(home, _files(path, home, root, found))
    except OSError as error:
        raise _not_imported(path, error) from error
    return ForeignBase(path, found, name, os.path.join(root, f"{name}-{digest[:12]}"))


def _not_imported(path: str, error: OSError) -> NoBundleError:
    return NoBundleError(f"{path} is not imported: {error}")


def _files(path: str, home: str, root: str, found: Format) -> Iterator[str]:
    """Yields the paths, in a model's folder, of the files that its import may read."""
    if not found.file_ending:
        left_out = tuple(f"{each}/" for each in _folders_of_runs(home, root))
        for name in storage.files_below(home):
            is_hidden = any(part.startswith(".") for part in name.split("/"))
            if not is_hidden and not name.startswith(left_out):
                yield name
        return
    own = None if path == home else os.path.basename(path.removesuffix(found.file_ending))
    for name in storage.list_folder(home):
        part = _OF_CHECKPOINT.fullmatch(name)
        is_others = own is not None and part is not None and part[1] != own
        is_file = not storage.why_no_file(os.path.join(home, name))
        if is_file and not is_others and not name.startswith("."):
            yield name


def _folders_of_runs(home: str, root: str) -> list[str]:
    """Returns the paths, in a folder, of the folders in it that hold runs or are one."""
    place = os.path.relpath(os.path.realpath(root), os.path.realpath(home))
    if place != os.curdir:
        return [place]
    folders = [(each, os.path.join(home, each)) for each in storage.list_folder(home)]
    return [
        each
        for each, run in folders
        if storage.is_whole(run) or storage.exists(os.path.join(run, "pipeline"))
    ]


def _name(path: str, home: str, found: Format) -> str:
    """Returns a name for a folder, or for a checkpoint in it."""
    file = [] if path == home else [os.path.basename(path.removesuffix(found.file_ending))]
    name = "_".join([os.path.basename(home), *file])
    return _OTHERS.sub("_", name).lstrip("-")[:_MAX_NAME] or found.name
