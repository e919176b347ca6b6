"""The .py files of installed packages and of the standard library, found without importing them."""

import difflib
import importlib.metadata
import importlib.util
import os
import pkgutil
import sys
import sysconfig
from collections.abc import Iterable, Iterator

from firth.corpus.errors import SourceError
from firth.corpus.source_files import SourceFile

# Tests say little in their docstrings, and some Python distributions leave them out.
SKIPPED_FOLDERS = {"__pycache__", "idle_test", "site-packages", "test", "tests"}
STANDARD_LIBRARY = "python"


def package_files(source_name: str, package: str) -> list[SourceFile]:
    """Returns the .py files of an installed package, by path, named `package/dotted.module`.

    Args:
        source_name: Stands in the error.
        package: The name that one imports, not the one that one installs.

    Raises:
        SourceError: if there is no such package, or it has no .py file.
    """
    # A dotted name would import its parent.
    spec = importlib.util.find_spec(package) if package.isidentifier() else None
    if spec is None:
        raise SourceError(f"source {source_name!r}: no package {package!r} is installed{_nearest(package)}")
    if spec.submodule_search_locations is None:
        places: Iterable[str] = [spec.origin or ""]
    else:
        places = spec.submodule_search_locations
    files = [file for place in places for file in _files_under(place, package, package)]
    if not files:
        raise SourceError(f"source {source_name!r}: package {package!r} has no .py file")
    return sorted(files)


def standard_library_files() -> list[SourceFile]:
    """Returns the .py files of the standard library's modules, by path, named `python/dotted.module`."""
    folder = sysconfig.get_paths()["stdlib"]
    files: list[SourceFile] = []
    for module in sorted(sys.stdlib_module_names):
        for place in (os.path.join(folder, module), os.path.join(folder, f"{module}.py")):
            files += _files_under(place, STANDARD_LIBRARY, module)
    return sorted(files)


def _files_under(place: str, package: str, module: str) -> Iterator[SourceFile]:
    if place.endswith(".py") and os.path.isfile(place):
        yield _source_file(place, package, module)
    for folder, subfolders, names in os.walk(place):
        subfolders[:] = sorted(set(subfolders) - SKIPPED_FOLDERS)
        inner = os.path.relpath(folder, place).split(os.sep)
        for name in names:
            if name.endswith(".py"):
                parts = [module, *inner, name.removesuffix(".py")]
                dotted = ".".join(part for part in parts if part not in (".", "__init__"))
                yield _source_file(os.path.join(folder, name), package, dotted)


def _source_file(path: str, package: str, module: str) -> SourceFile:
    status = os.stat(path)
    return SourceFile(path, f"{package}/{module}", status.st_size, status.st_mtime)


def _nearest(package: str) -> str:
    modules = {module.name for module in pkgutil.iter_modules()}
    for name in _modules_of_distribution(package):
        if name in modules:
            return f"; the distribution {package!r} is imported as {name!r}"
    near = difflib.get_close_matches(package, modules, n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def _modules_of_distribution(name: str) -> list[str]:
    try:
        files = importlib.metadata.files(name) or []
    except (importlib.metadata.PackageNotFoundError, ValueError):
        return []
    modules = {file.parts[0].removesuffix(".py") for file in files if file.suffix == ".py"}
    return sorted(module for module in modules if not module.startswith("_"))
