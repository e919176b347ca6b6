"""Bundles and adapters that a command is given by name or by path."""

import os
import pathlib

_ADAPTER, _DESCRIPTION = "adapter", "adapter.json"


def bundle_of(said: str, root: pathlib.Path) -> str:
    """Returns the folder of a bundle.

    Args:
        said: Name of a run or of an imported model below the root, or path of a bundle.
        root: Folder of all runs.

    Raises:
        firth.recipes.reading.bundles.NoBundleError: if there is no such bundle, with the nearest name.
    """
    from firth import storage
    from firth.recipes.reading.bundles import bundle_in, find_bundle

    is_path = "/" in said or storage.is_folder(said)
    of_run = storage.is_folder(os.path.join(root, said))
    return bundle_in(said) if is_path and not of_run else find_bundle(said, str(root))


def adapter_of(said: str, root: pathlib.Path) -> str:
    """Returns the folder of an adapter.

    Args:
        said: Name of the run that trained it, path of its bundle, or of the adapter itself.
        root: Folder of all runs.

    Raises:
        NoBundleError: if there is no such adapter, with what is missing.
    """
    from firth import storage
    from firth.recipes.reading.bundles import NoBundleError

    if storage.exists(os.path.join(said, _DESCRIPTION)):
        return said
    try:
        bundle = bundle_of(said, root)
    except NoBundleError as error:
        if not storage.is_folder(said):
            raise
        problem = f"{said} is not an adapter: it lacks {_DESCRIPTION}; nor is it a run"
        raise NoBundleError(f"{problem}: {error}") from error
    found = os.path.join(os.path.dirname(bundle), _ADAPTER)
    if not storage.is_folder(found):
        raise NoBundleError(f"{said} has no {_ADAPTER} next to its bundle: its method adds nothing")
    return found
