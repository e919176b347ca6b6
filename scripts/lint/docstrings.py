"""Annotations of all signatures, and docstrings that name their arguments, fields and errors."""

import ast
import difflib
import re
from collections.abc import Collection, Iterator

from scripts.lint.sources import Fault, Repository, Source

Function = ast.FunctionDef | ast.AsyncFunctionDef
_SECTION = re.compile(r"^ *(\w+):$")
_ENTRY = re.compile(r"^( *)(\*{0,2}[\w.]+)(?: \([^)]*\))?: *(\S.*)$")


def faults(repository: Repository) -> Iterator[Fault]:
    """Yields a fault for each gap in the docstring of an exported name, and for each bare signature."""
    for place, source in repository.sources.items():
        yield from docstring_faults(source, repository.exports.get(place, frozenset()))
        yield from annotation_faults(source)


def sections_of(docstring: str) -> dict[str, dict[str, str]]:
    r"""Returns {section: {entry: its first line}} of a docstring in Google's style.

    Example:

    >>> sections_of("Args:\n    a: First.\n        More.\n    b: Second.")
    {'Args': {'a': 'First.', 'b': 'Second.'}}
    """
    sections: dict[str, dict[str, str]] = {}
    entries: dict[str, str] | None = None
    depth = None
    for line in docstring.splitlines():
        if section := _SECTION.match(line):
            entries, depth = sections.setdefault(section[1], {}), None
        elif entries is not None and (entry := _ENTRY.match(line)):
            depth = len(entry[1]) if depth is None else depth
            if len(entry[1]) == depth:
                entries[entry[2].lstrip("*")] = entry[3]
    return sections


def arguments_of(function: Function) -> list[ast.arg]:
    """Returns the arguments of a function without `self` and `cls`."""
    of = function.args
    given = [*of.posonlyargs, *of.args, *of.kwonlyargs, *filter(None, (of.vararg, of.kwarg))]
    return [each for each in given if each.arg not in ("self", "cls")]


def is_plain_data(node: ast.ClassDef) -> bool:
    """Returns true for a dataclass, a named tuple or a typed dict, whose docstring lists its fields."""
    bases = {ast.unparse(base) for base in node.bases}
    is_dataclass = any("dataclass" in ast.unparse(decorator) for decorator in node.decorator_list)
    return is_dataclass or bool(bases & {"NamedTuple", "typing.NamedTuple", "TypedDict"})


def public_parts(tree: ast.Module) -> Iterator[tuple[str, Function | ast.ClassDef]]:
    """Yields (qualified name, node) of public functions and classes, and of the classes' public methods."""
    for node in tree.body:
        if isinstance(node, Function | ast.ClassDef) and not node.name.startswith("_"):
            yield node.name, node
            for inner in node.body if isinstance(node, ast.ClassDef) else []:
                if isinstance(inner, Function) and not inner.name.startswith("_"):
                    yield f"{node.name}.{inner.name}", inner


def missing_names(docstring: str, name: str, section: str, wanted: Collection[str]) -> Iterator[str]:
    """Yields a sentence for each argument or field that is not named, or whose text begins with 'Of'."""
    sections = sections_of(docstring)
    listed = sections.get(section, {})
    for each in wanted:
        if each not in listed:
            near = difflib.get_close_matches(each, listed.keys() - set(wanted), n=1)
            yield f"{name}: `{section}:` does not name {each}" + (f"; it has {near[0]}" if near else "")
    for part in ("Args", "Attributes"):
        for entry, text in sections.get(part, {}).items():
            if text.startswith("Of "):
                yield f"{name}: the entry `{entry}` begins with 'Of'; begin with a noun"


def docstring_faults(source: Source, exports: Collection[str]) -> Iterator[Fault]:
    """Yields a fault for each argument, field or error that the docstring of an exported name does not name.

    One sentence is enough for other names. A method without a docstring overrides one of a base class, which
    describes it: ruff demands the others.
    """
    raised = list(source.nodes(ast.Raise))
    for name, node in public_parts(source.tree):
        if name.partition(".")[0] not in exports:
            continue
        docstring = ast.get_docstring(node)
        if isinstance(node, ast.ClassDef):
            section, wanted = class_names(node)
        elif docstring is None:
            continue
        else:
            section, wanted = "Args", [each.arg for each in arguments_of(node)]
            inside = [each for each in raised if node.lineno <= each.lineno <= (node.end_lineno or 0)]
            for error in undeclared_errors(docstring, inside):
                yield source.fault(node.lineno, f"{name}: `Raises:` does not name {error}")
        for sentence in missing_names(docstring or "", name, section, wanted):
            yield source.fault(node.lineno, sentence)


def class_names(node: ast.ClassDef) -> tuple[str, list[str]]:
    """Returns the section that the docstring of a class must have, and the names in it."""
    if is_plain_data(node):
        fields = [each.target for each in node.body if isinstance(each, ast.AnnAssign)]
        names = [each.id for each in fields if isinstance(each, ast.Name)]
        return "Attributes", [each for each in names if not each.startswith("_")]
    made = [each for each in node.body if isinstance(each, Function) and each.name == "__init__"]
    return "Args", [each.arg for init in made for each in arguments_of(init)]


def undeclared_errors(docstring: str, raised: list[ast.Raise]) -> list[str]:
    """Returns the names of the errors that a docstring does not name."""
    called = [each.exc.func for each in raised if isinstance(each.exc, ast.Call)]
    errors = [each.id for each in called if isinstance(each, ast.Name)]
    listed = sections_of(docstring).get("Raises", {})
    return [error for error in dict.fromkeys(errors) if error[0].isupper() and error not in listed]


def annotation_faults(source: Source) -> Iterator[Fault]:
    """Yields a fault for each signature that is not annotated, of private functions too."""
    for node in source.nodes(ast.FunctionDef, ast.AsyncFunctionDef):
        bare = [each.arg for each in arguments_of(node) if each.annotation is None]
        if node.returns is None:
            bare.append("return")
        if bare:
            yield source.fault(node.lineno, f"{node.name} has no annotation for {', '.join(bare)}")
