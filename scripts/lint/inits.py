"""Style of the `__init__.py` files: a docstring, imports, `__all__`, and tables in capitals."""

import ast
from collections.abc import Iterator

from scripts.lint.sources import Fault, Repository, Source

EXPORTS = {"__all__", "__dir__", "__getattr__", "__version__"}


def faults(repository: Repository) -> Iterator[Fault]:
    """Yields a fault for each other thing in an `__init__.py`.

    Args:
        repository: The files.
    """
    for place, source in repository.sources.items():
        if place.rpartition("/")[2] == "__init__.py":
            yield from init_faults(source)


def init_faults(source: Source) -> Iterator[Fault]:
    """Yields a fault for each thing that an `__init__.py` may not have.

    Args:
        source: The file.
    """
    if not ast.get_docstring(source.tree):
        yield source.fault(1, "no docstring; write one or two sentences on the package")
    imported, exports = 0, False
    for node in source.tree.body[1:]:
        if isinstance(node, ast.ImportFrom | ast.Import):
            imported = imported or node.lineno
        elif not isinstance(node, ast.Assign | ast.AnnAssign):
            yield source.fault(node.lineno, "neither an import nor a table; move it to a module")
        else:
            names = [each.id for each in ast.walk(node) if isinstance(each, ast.Name) and _is_stored(each)]
            exports |= "__all__" in names
            for name in names:
                if name not in EXPORTS and not name.isupper():
                    yield source.fault(node.lineno, f"{name} is not a table in capitals; move it to a module")
    if imported and not exports:
        yield source.fault(imported, "imports without __all__; list the names that the package exports")


def _is_stored(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store)
