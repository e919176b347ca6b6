"""Signatures are annotated and docstrings name their arguments, in every folder that is listed here."""

import ast
import pathlib
import re
from collections.abc import Iterator

import pytest

PACKAGE = pathlib.Path(__file__).parents[1] / "firth"
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


def sources(folders: tuple[str, ...] = FOLDERS, modules: tuple[str, ...] = MODULES) -> list[pathlib.Path]:
    of_folders = (path for folder in folders for path in (PACKAGE / folder).rglob("*.py"))
    return sorted([*of_folders, *(PACKAGE / each for each in modules)])


def sections_of(docstring: str) -> dict[str, dict[str, str]]:
    """Returns {section: {entry: its first line}} of a docstring in Google's style."""
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


def has_decorator(node: Function | ast.ClassDef, name: str) -> bool:
    return any(name in ast.unparse(decorator) for decorator in node.decorator_list)


def is_plain_data(node: ast.ClassDef) -> bool:
    bases = {ast.unparse(base) for base in node.bases}
    return has_decorator(node, "dataclass") or bool(bases & {"NamedTuple", "typing.NamedTuple", "TypedDict"})


def public_parts(tree: ast.Module) -> Iterator[tuple[str, Function | ast.ClassDef]]:
    """Yields (qualified name, node) of public functions and classes, and of the classes' public methods."""
    for node in tree.body:
        if isinstance(node, Function | ast.ClassDef) and not node.name.startswith("_"):
            yield node.name, node
            for inner in node.body if isinstance(node, ast.ClassDef) else []:
                if isinstance(inner, Function) and not inner.name.startswith("_"):
                    yield f"{node.name}.{inner.name}", inner


def missing_names(docstring: str | None, name: str, section: str, wanted: list[str]) -> Iterator[str]:
    sections = sections_of(docstring or "")
    listed = sections.get(section, {})
    if absent := [each for each in wanted if each not in listed]:
        yield f"{name}: `{section}:` does not name {', '.join(absent)}"
    for part in ("Args", "Attributes"):
        for entry, text in sections.get(part, {}).items():
            if text.startswith("Of "):
                yield f"{name}: the entry `{entry}` begins with 'Of'; begin with a noun"


def docstring_faults(source: str) -> list[str]:
    """Returns a sentence for each argument or field that the docstring of a public part does not name.

    A method without a docstring overrides one of a base class, which describes it: ruff demands the others.
    """
    found: list[str] = []
    for name, node in public_parts(ast.parse(source)):
        docstring = ast.get_docstring(node)
        if isinstance(node, ast.ClassDef):
            if is_plain_data(node):
                fields = [each.target.id for each in node.body if isinstance(each, ast.AnnAssign)]  # type: ignore
                section, wanted = "Attributes", [each for each in fields if not each.startswith("_")]
            else:
                made = [each for each in node.body if isinstance(each, Function) and each.name == "__init__"]
                section, wanted = "Args", [each.arg for init in made for each in arguments_of(init)]
            found += missing_names(docstring, name, section, wanted)
        elif docstring is not None:
            found += missing_names(docstring, name, "Args", [each.arg for each in arguments_of(node)])
            found += undeclared_errors(docstring, name, node)
    return found


def undeclared_errors(docstring: str, name: str, function: Function) -> Iterator[str]:
    listed = sections_of(docstring).get("Raises", {})
    for node in ast.walk(function):
        if (
            isinstance(node, ast.Raise)
            and isinstance(node.exc, ast.Call)
            and isinstance(node.exc.func, ast.Name)
        ):
            error = node.exc.func.id
            if error[0].isupper() and error not in listed:
                yield f"{name}: `Raises:` does not name {error}"


def annotation_faults(source: str) -> list[str]:
    """Returns a sentence for each argument and result without an annotation, of private functions too."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, Function):
            bare = [each.arg for each in arguments_of(node) if each.annotation is None]
            if node.returns is None:
                bare.append("return")
            if bare:
                found.append(f"line {node.lineno}: {node.name} has no annotation for {', '.join(bare)}")
    return found


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_public_parts_are_annotated_and_documented(path):
    source = path.read_text()
    assert docstring_faults(source) + annotation_faults(source) == []


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_listed_folder_has_sources(folder):
    assert sources((folder,), ())


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ('def f(a: int) -> int:\n    """Returns a."""\n', "f: `Args:` does not name a"),
        ('def f(*a: int) -> int:\n    """Returns a."""\n', "f: `Args:` does not name a"),
        (
            'def f(a: int) -> int:\n    """Returns a.\n\n    Args:\n        a: Of b.\n    """\n',
            "begin with a noun",
        ),
        (
            'class C:\n    """C."""\n\n    def __init__(self, a: int) -> None: ...\n',
            "C: `Args:` does not name a",
        ),
        ('class C(NamedTuple):\n    """C."""\n\n    a: int\n', "C: `Attributes:` does not name a"),
        ('def f() -> int:\n    """Returns 1."""\n    raise ValueError("no")\n', "does not name ValueError"),
    ],
)
def test_a_gap_in_a_docstring_is_found(source, complaint):
    (found,) = docstring_faults(source)
    assert complaint in found


@pytest.mark.parametrize(
    ("source", "missing"), [("def _f(a) -> None: ...", "a"), ("def f(self, *, a: int): ...", "return")]
)
def test_a_missing_annotation_is_found(source, missing):
    (found,) = annotation_faults(source)
    assert found.endswith(f"has no annotation for {missing}")


def init_faults(source: str) -> list[str]:
    """Returns what an `__init__.py` has besides a docstring, imports, `__all__` and tables in capitals."""
    tree = ast.parse(source)
    found = [] if ast.get_docstring(tree) else ["no docstring"]
    imported, exports = False, False
    for node in tree.body[1:]:
        names = [each.id for each in ast.walk(node) if isinstance(each, ast.Name) and is_stored(each)]
        if isinstance(node, ast.ImportFrom | ast.Import):
            imported = True
        elif not isinstance(node, ast.Assign | ast.AnnAssign):
            found.append(f"line {node.lineno}: neither an import nor a table")
        else:
            exports |= "__all__" in names
            found += [f"line {node.lineno}: {each}" for each in names if not is_export(each)]
    return found + (["imports without __all__"] if imported and not exports else [])


def is_stored(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store)


def is_export(name: str) -> bool:
    return name in ("__all__", "__dir__", "__getattr__", "__version__") or name.isupper()


@pytest.mark.parametrize(
    "path", sorted(PACKAGE.rglob("__init__.py")), ids=lambda path: str(path.parent.relative_to(PACKAGE))
)
def test_packages_have_one_style(path):
    assert init_faults(path.read_text()) == []


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ("import os\n", "no docstring"),
        ('"""P."""\n\nfrom a import b\n', "imports without __all__"),
        ('"""P."""\n\nlimit = 3\n', "line 3: limit"),
        ('"""P."""\n\ndef f(): ...\n', "neither an import nor a table"),
    ],
)
def test_another_style_is_found(source, fault):
    assert any(fault in each for each in init_faults(source))
