"""Model bundles on disk: found by the name of a run, checked, and identified by their content."""

import hashlib
import os
import pathlib
from collections.abc import Callable, Iterable

from firth import storage
from firth.recipes.base.errors import suggest
from firth.recipes.base.file_names import suggest_path
from firth.recipes.run.base import RECIPE_FILE, TOKENIZER_FOLDER, WEIGHTS_FILE
from firth.storage.published_models import how_to_import

ImportBase = Callable[[str, str], str | None]
"""Makes a bundle below the root of runs of another library's folder, by the paths of both, and returns its
folder; None for a folder of no known format. `firth.interop.bases.imported_base` is one."""
DEFAULT_ROOT = "firth-runs"
ROOT_VARIABLE = "FIRTH_ROOT"
# The folder of the models that a run has trained, one folder for each execution of the Trainer.
_TRAINED = "pipeline/Trainer/model"
_SUMMARY_FILE = "run.json"


class NoBundleError(ValueError):
    """There is no model bundle where one is looked for, or it is not whole."""


def runs_root(root: str | os.PathLike[str] | None = None) -> str:
    """Returns the folder of all runs: the given one, or that of `FIRTH_ROOT`, or `firth-runs`."""
    return os.fspath(root or os.environ.get(ROOT_VARIABLE) or DEFAULT_ROOT)


def find_bundle(name: str, root: str) -> str:
    """Returns the full path of the bundle of a run, or of an imported model, by its name."""
    folder = os.path.join(root, name)
    if not storage.is_folder(folder):
        names = [each for each in storage.list_folder(root) if _bundles_below(os.path.join(root, each))]
        advice = suggest(name, names) if names else "no model was made yet; see firth run and firth import"
        place = root if storage.is_local(root) is False else os.path.abspath(root)
        raise NoBundleError(f"no run or imported model in {place} is named {name!r}; {advice}")
    return bundle_in(folder)


def locate_bundle(given: str, root: str) -> str:
    """Returns the full path of the bundle that a name or a path means: a run of the root comes first.

    Raises:
        NoBundleError: if there is no such bundle, with the nearest name.
    """
    is_path = "/" in given or storage.is_folder(given)
    of_run = storage.is_folder(os.path.join(root, given))
    return bundle_in(given) if is_path and not of_run else find_bundle(given, root)


def bundle_in(folder: str) -> str:
    """Returns the full path of the bundle in a folder: itself, its `bundle`, or that of a run's newest model.

    Of a run that has finished, it is the model that the last finished run has trained; otherwise the model of
    its newest Trainer that has ended.
    """
    folder = os.path.abspath(folder) if storage.is_local(folder) else folder.rstrip("/")
    if not storage.is_folder(folder):
        advice = (
            suggest_path(folder) or "; a published model is downloaded first, and comes in by firth import"
        )
        raise NoBundleError(f"there is no folder {folder}{advice}")
    found = _bundles_below(folder)
    if not found:
        raise NoBundleError(_why_none(folder))
    check_bundle(found[-1])
    return found[-1]


def may_be_base(folder: str) -> bool:
    """Returns whether a folder is or holds a bundle, or is another library's."""
    return bool(_bundles_below(folder) or how_to_import(folder))


def check_bundle(folder: str) -> None:
    """Passes if a folder is a whole bundle."""
    lacking = [name for name in _PARTS if not storage.exists(os.path.join(folder, name))]
    if lacking:
        raise NoBundleError(f"{folder} is not a model bundle: it lacks {' and '.join(lacking)}")
    if not storage.is_whole(folder):
        raise NoBundleError(
            f"{folder} lacks its marker, {storage.MARKER}: what wrote the bundle was cut short"
        )


def check_digest(folder: str, digest: str) -> None:
    """Passes if a bundle is the one that a recipe was read with."""
    if digest_of_bundle(folder) != digest:
        raise NoBundleError(
            f"{folder} is not the bundle that the recipe was read with: its digest is another. Say "
            "`base` again to start from it"
        )


def blessed_bundle(model: str) -> str:
    """Returns the bundle of the blessed model that a run with `warm_start` starts from."""
    try:
        return bundle_in(model)
    except NoBundleError as error:
        raise NoBundleError(
            f"warm_start: the model that this pipeline has blessed last is gone: {error}. Put it back, name "
            "another one by `base`, or leave `warm_start` out, which draws the weights by the seed"
        ) from None


def checkpoints_of(bundle: str) -> str | None:
    """Returns the folder of the checkpoints of the run that holds a bundle; None if none does.

    Example:

    >>> checkpoints_of("firth-runs/no_run/pipeline/Trainer/model/7/bundle") is None
    True
    """
    run, found, _ = bundle.rpartition(f"/{_TRAINED}/")
    folder = os.path.join(run, "checkpoints")
    return folder if found and storage.is_folder(folder) else None


def digest_of_bundle(folder: str) -> str:
    """Returns the SHA-256 over a bundle's files and their paths in it, in hex; its place does not matter.

    Example:

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as root:
    ...     _ = pathlib.Path(root, "weights").write_bytes(b"1")
    ...     digest_of_bundle(root)[:8]
    '50084cb9'
    """
    return digest_of_files(folder, (name for name in storage.files_below(folder) if name != storage.MARKER))


def digest_of_files(folder: str, names: Iterable[str]) -> str:
    """Returns the SHA-256 over files of a folder and their paths in it, in hex."""
    whole = hashlib.sha256()
    for name in sorted(names):
        content = storage.digest_of(os.path.join(folder, name))
        whole.update(f"{name} {content.hex()}\n".encode())
    return whole.hexdigest()


_PARTS = (RECIPE_FILE, WEIGHTS_FILE, TOKENIZER_FOLDER)


def _bundles_below(folder: str) -> list[str]:
    """Returns the bundles that a folder is or holds, the one that is meant last."""
    for each in (folder, os.path.join(folder, storage.BUNDLE_FOLDER)):
        if storage.exists(os.path.join(each, WEIGHTS_FILE)):
            return [each]
    trained = os.path.join(folder, _TRAINED)
    numbers = sorted((name for name in storage.list_folder(trained) if name.isdecimal()), key=int)
    bundles = [os.path.join(trained, number, storage.BUNDLE_FOLDER) for number in numbers]
    whole = [each for each in bundles if storage.is_whole(each)]
    return sorted(whole, key=lambda each: _number(each) == _finished(folder))


def _number(bundle: str) -> str:
    return pathlib.PurePath(bundle).parent.name


def _finished(run: str) -> str:
    """Returns the number of the model of a run's last finished run, since the folder may have been moved."""
    summary = storage.read_json_object(os.path.join(run, _SUMMARY_FILE))
    return _number(summary.get("bundle") or "")


def _why_none(folder: str) -> str:
    if storage.exists(os.path.join(folder, "pipeline")):
        return (
            f"the run in {folder} has no trained model yet: there is no {_TRAINED}/*/{storage.BUNDLE_FOLDER}"
        )
    if command := how_to_import(folder):
        return f"{folder} is not a model bundle: {command}"
    return f"{folder} is not a model bundle: it lacks {' and '.join(_PARTS)}"
