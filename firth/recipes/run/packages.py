"""Installed Python packages, found without importing them."""

import difflib
import importlib.machinery
import importlib.metadata
import importlib.util
import pkgutil


def find_package(package: str) -> importlib.machinery.ModuleSpec | None:
    """Returns the place of a package; None if it is not installed.

    Example:

    >>> find_package("json").name, find_package("no_such_package")
    ('json', None)
    """
    try:
        # A dotted name would import its parent.
        return importlib.util.find_spec(package) if package.isidentifier() else None
    except ValueError:
        # A module that runs without having been imported, such as `__main__`.
        return None


def suggest_package(package: str) -> str:
    """Returns which package may be meant, as the end of a message; an empty text if no name is near.

    Example:

    >>> suggest_package("jsn"), suggest_package("PyYAML")
    ("; did you mean 'json'?", "; the distribution 'PyYAML' is imported as 'yaml'")
    """
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
