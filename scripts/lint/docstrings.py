"""Annotations of all signatures, and docstrings that name their arguments, fields and errors."""

import ast
import difflib
import re
from collections.abc import Collection, Iterator

from scripts.lint.sources import Fault, Repository, Source, entry_fault

# The folders and modules whose docstrings are complete. The lists only grow.
FOLDERS: tuple[str, ...] = (
    "analysis",
    "cli",
    "components",
    "corpus",
    "evaluation",
    "generation",
    "layers",
    "models",
    "objectives",
    "pipelines",
    "recipes",
    "scores",
    "serving",
    "storage",
    "tasks",
    "tokenizers",
    "training",
    "tuning",
)
MODULES: tuple[str, ...] = ("features.py",)

Function = ast.FunctionDef | ast.AsyncFunctionDef
_SECTION = re.compile(r"^ *(\w+):$")
_ENTRY = re.compile(r"^( *)(\*{0,2}[\w.]+)(?: \([^)]*\))?: *(\S.*)$")


def faults(repository: Repository) -> Iterator[Fault]:
    """Yields a fault for each gap in a file of `FOLDERS` and `MODULES`, and for each entry without files.

    Args:
        repository: The files.
    """
    listed = {place: owner for place in repository.sources if (owner := _listed(place))}
    for place in listed:
        yield from docstring_faults(repository.sources[place])
        yield from annotation_faults(repository.sources[place])
    for owner in {*FOLDERS, *MODULES} - set(listed.values()):
        yield entry_fault(__file__, owner, "there are no such files; remove the entry")


def _listed(place: str) -> str:
    """The entry of `FOLDERS` or `MODULES` that a file belongs to."""
    folder = place.partition("/")[0]
    return folder if folder in FOLDERS or folder in MODULES else ""


def sections_of(docstring: str) -> dict[str, dict[str, str]]:
    r"""Returns {section: {entry: its first line}} of a docstring in Google's style.

    Args:
        docstring: The docstring.

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
    """Returns the arguments of a function without `self` and `cls`.

    Args:
        function: The function.
    """
    of = function.args
    given = [*of.posonlyargs, *of.args, *of.kwonlyargs, *filter(None, (of.vararg, of.kwarg))]
    return [each for each in given if each.arg not in ("self", "cls")]


def is_plain_data(node: ast.ClassDef) -> bool:
    """Whether a class is a dataclass, a named tuple or a typed dict, whose docstring lists its fields.

    Args:
        node: The class.
    """
    bases = {ast.unparse(base) for base in node.bases}
    is_dataclass = any("dataclass" in ast.unparse(decorator) for decorator in node.decorator_list)
    return is_dataclass or bool(bases & {"NamedTuple", "typing.NamedTuple", "TypedDict"})


def public_parts(tree: ast.Module) -> Iterator[tuple[str, Function | ast.ClassDef]]:
    """Yields (qualified name, node) of public functions and classes, and of the classes' public methods.

    Args:
        tree: The file.
    """
    for node in tree.body:
        if isinstance(node, Function | ast.ClassDef) and not node.name.startswith("_"):
            yield node.name, node
            for inner in node.body if isinstance(node, ast.ClassDef) else []:
                if isinstance(inner, Function) and not inner.name.startswith("_"):
                    yield f"{node.name}.{inner.name}", inner


def missing_names(docstring: str, name: str, section: str, wanted: Collection[str]) -> Iterator[str]:
    """Yields a sentence for each argument or field that is not named, or whose text begins with 'Of'.

    Args:
        docstring: The docstring.
        name: Qualified name of its function or class.
        section: `Args` or `Attributes`.
        wanted: Names of the arguments or fields.
    """
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


def docstring_faults(source: Source) -> Iterator[Fault]:
    """Yields a fault for each argument, field or error that the docstring of a public part does not name.

    A method without a docstring overrides one of a base class, which describes it: ruff demands the others.

    Args:
        source: The file.
    """
    raised = list(source.nodes(ast.Raise))
    for name, node in public_parts(source.tree):
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
    """Returns the section that the docstring of a class must have, and the names in it.

    Args:
        node: The class.
    """
    if is_plain_data(node):
        fields = [each.target for each in node.body if isinstance(each, ast.AnnAssign)]
        names = [each.id for each in fields if isinstance(each, ast.Name)]
        return "Attributes", [each for each in names if not each.startswith("_")]
    made = [each for each in node.body if isinstance(each, Function) and each.name == "__init__"]
    return "Args", [each.arg for init in made for each in arguments_of(init)]


def undeclared_errors(docstring: str, raised: list[ast.Raise]) -> list[str]:
    """Returns the names of the errors that a docstring does not name.

    Args:
        docstring: The docstring of a function.
        raised: The `raise` statements in the function.
    """
    called = [each.exc.func for each in raised if isinstance(each.exc, ast.Call)]
    errors = [each.id for each in called if isinstance(each, ast.Name)]
    listed = sections_of(docstring).get("Raises", {})
    return [error for error in dict.fromkeys(errors) if error[0].isupper() and error not in listed]


def annotation_faults(source: Source) -> Iterator[Fault]:
    """Yields a fault for each signature that is not annotated, of private functions too.

    Args:
        source: The file.
    """
    for node in source.nodes(ast.FunctionDef, ast.AsyncFunctionDef):
        bare = [each.arg for each in arguments_of(node) if each.annotation is None]
        if node.returns is None:
            bare.append("return")
        if bare:
            yield source.fault(node.lineno, f"{node.name} has no annotation for {', '.join(bare)}")
