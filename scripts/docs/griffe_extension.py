"""Extension of griffe, called with each object of the sources for the API's pages."""

import ast
import pathlib
import sys

import griffe

sys.path.insert(0, str(pathlib.Path(__file__).parents[2]))

from scripts.docs.docstring_markdown import as_markdown


class ShownDocstrings(griffe.Extension):
    """Rewrites each docstring into the Markdown that griffe's parser of Google style takes."""

    def on_instance(self, *, obj: griffe.Object | None = None, **kwargs) -> None:
        """Called with each object."""
        if obj is not None and obj.docstring:
            obj.docstring.value = as_markdown(obj.docstring.value)

    def on_alias_instance(self, *, alias: griffe.Alias, node: ast.AST, **kwargs) -> None:
        """Called with each import: stubs export a name by `from .place import Name as Name`."""
        if isinstance(node, ast.ImportFrom):
            alias.public = any(each.asname == alias.name for each in node.names) or None
