"""Extension of griffe, called with each object of the sources for the API's pages."""

import ast
import pathlib
import sys
from collections.abc import Iterator

import griffe

sys.path.insert(0, str(pathlib.Path(__file__).parents[2]))

from scripts.docs.docstring_markdown import as_markdown


class ShownDocstrings(griffe.Extension):
    """Rewrites docstrings into the Markdown that griffe's parser of Google style takes.

    A default that is the name of a constant is shown as the constant's value, if that is a literal.
    """

    def on_instance(self, *, obj: griffe.Object | None = None, **kwargs) -> None:
        """Called with each object."""
        if obj is not None and obj.docstring:
            obj.docstring.value = as_markdown(obj.docstring.value)

    def on_alias_instance(self, *, alias: griffe.Alias, node: ast.AST, **kwargs) -> None:
        """Called with each import: stubs export a name by `from .place import Name as Name`."""
        if isinstance(node, ast.ImportFrom):
            alias.public = any(each.asname == alias.name for each in node.names) or None

    def on_package(self, *, pkg: griffe.Module, **kwargs) -> None:
        """Called with the whole package."""
        for function in _functions(pkg):
            for parameter in function.parameters:
                if isinstance(parameter.default, griffe.ExprName):
                    parameter.default = _literal(parameter.default, pkg) or parameter.default


def _functions(place: griffe.Module | griffe.Class) -> Iterator[griffe.Function]:
    for member in place.members.values():
        if isinstance(member, griffe.Function):
            yield member
            yield from member.overloads or ()
        elif isinstance(member, griffe.Module | griffe.Class):
            yield from _functions(member)


def _literal(name: griffe.ExprName, package: griffe.Module) -> str | None:
    """Returns the literal of a constant of the package; None for any other name."""
    try:
        found = package.modules_collection[name.canonical_path]
        value = str(found.value)
        ast.literal_eval(value)
    except (KeyError, AttributeError, ValueError, SyntaxError, griffe.GriffeError):
        return None
    return value
