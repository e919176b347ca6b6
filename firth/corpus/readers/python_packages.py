"""The .py files of installed packages and of the standard library, found without importing a package."""

import os
import sys
import sysconfig
from collections.abc import Iterable, Iterator

from firth.corpus.documents.errors import SourceError
from firth.corpus.io.source_files import SourceFile
from firth.recipes.run.packages import find_package, suggest_package

# Caches, other packages, and tests, whose docstrings are short and which some Python distributions leave out.
SKIPPED_FOLDERS = {"__pycache__", "idle_test", "site-packages", "test", "tests"}
STANDARD_LIBRARY = "python"


def package_files(source_name: str, package: str) -> list[SourceFile]:
    """Returns the .py files of an installed package, sorted by path and named `package/dotted.module`."""
    spec = find_package(package)
    if spec is None:
        nearest = suggest_package(package)
        raise SourceError(f"source {source_name!r}: no package {package!r} is installed{nearest}")
    if spec.submodule_search_locations is None:
        places: Iterable[str] = [spec.origin or ""]
    else:
        places = spec.submodule_search_locations
    files = [file for place in places for file in _files_under(place, package, package)]
    if not files:
        raise SourceError(f"source {source_name!r}: package {package!r} has no .py file")
    return sorted(files)


def standard_library_files() -> list[SourceFile]:
    """Returns the .py files of the standard library, sorted by path and named `python/dotted.module`."""
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
