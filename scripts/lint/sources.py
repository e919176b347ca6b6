"""Sources of the package, each parsed and walked once, and the faults that rules find in them."""

import ast
import itertools
import pathlib
from collections.abc import Iterator
from typing import NamedTuple, TypeVar

from scripts.docs.build_file import Target, read_targets

Node = TypeVar("Node", bound=ast.AST)
PACKAGE = "firth"


class Fault(NamedTuple):
    """A place that breaks a rule, printed as `path:line: sentence`.

    Attributes:
        path: Path from the repository's root.
        line: Line, from 1.
        sentence: The thing that is wrong, and the nearest right choice if there is one.
    """

    path: str
    line: int
    sentence: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.sentence}"


class Source:
    """A parsed Python file of the package.

    Args:
        place: Path from the package's folder, such as `layers/norms.py`.
        text: Content of the file.

    Attributes:
        place: The argument.
        path: Path from the repository's root.
        text: The argument.
        tree: The parsed file.

    Raises:
        SyntaxError: The text is not Python.
    """

    def __init__(self, place: str, text: str) -> None:
        self.place = place
        self.path = f"{PACKAGE}/{place}"
        self.text = text
        self.tree = ast.parse(text, self.path)
        self._nodes = _nodes_by_type(self.tree)

    def nodes(self, *types: type[Node]) -> Iterator[Node]:
        """Yields the nodes of some types, wherever in the file they are.

        Args:
            *types: Types of nodes, without their subclasses.
        """
        return itertools.chain.from_iterable(self._nodes.get(each, ()) for each in types)

    def fault(self, line: int, sentence: str) -> Fault:
        """Returns a fault of this file.

        Args:
            line: Line, from 1.
            sentence: The thing that is wrong.
        """
        return Fault(self.path, line, sentence)


def _nodes_by_type(tree: ast.AST) -> dict[type, list]:
    """Nodes of a tree. The contexts `Load` and `Store` are left out: a node names its own."""
    found: dict[type, list] = {}
    waiting = [tree]
    for node in waiting:
        found.setdefault(type(node), []).append(node)
        for value in node.__dict__.values():
            if isinstance(value, list):
                waiting += [each for each in value if isinstance(each, ast.AST)]
            elif isinstance(value, ast.AST) and value._fields:
                waiting.append(value)
    return found


class Repository(NamedTuple):
    """The files that rules look at.

    Attributes:
        sources: Parsed files of the package by their place.
        build: Content of BUILD.
        targets: Targets of BUILD.
        tests: Paths of the tests from their folder, without a suffix, such as `layers/norms_test`.
        folders: Paths of all folders of the package from its own, those of data among them.
    """

    sources: dict[str, Source]
    build: str
    targets: dict[str, Target]
    tests: frozenset[str]
    folders: frozenset[str]


def repository_of(texts: dict[str, str], build: str = "", tests: tuple[str, ...] = ()) -> Repository:
    """Returns a repository whose files are given as texts.

    Args:
        texts: Content of the package's files by their place.
        build: Content of BUILD.
        tests: Paths of the tests, as `Repository` has them.

    Raises:
        SyntaxError: A text is not Python.
    """
    sources = {place: Source(place, text) for place, text in texts.items()}
    folders = {str(parent) for place in texts for parent in pathlib.PurePath(place).parents} - {"."}
    return Repository(sources, build, read_targets(build), frozenset(tests), frozenset(folders))


def read_repository(root: pathlib.Path) -> Repository:
    """Returns the repository in a folder.

    Args:
        root: The folder of BUILD, `firth` and `tests`.

    Raises:
        SyntaxError: A file of the package is not Python.
    """
    package, tests = root / PACKAGE, root / "tests"
    files = sorted(package.rglob("*.py"))
    texts = {path.relative_to(package).as_posix(): path.read_text("utf-8") for path in files}
    names = tuple(path.relative_to(tests).with_suffix("").as_posix() for path in tests.rglob("*_test.py"))
    folders = {path.relative_to(package).as_posix() for path in package.rglob("*") if path.is_dir()}
    read = repository_of(texts, (root / "BUILD").read_text("utf-8"), names)
    return read._replace(folders=frozenset(folders))


def line_of(text: str, part: str) -> int:
    r"""Returns the first line of a text that has a part, or 1.

    Args:
        text: Content of a file.
        part: Text within a line.

    Example:

    >>> line_of("a = 1\nb = 2", "b =")
    2
    """
    return next((line for line, each in enumerate(text.splitlines(), start=1) if part in each), 1)


def entry_fault(rule: str, key: str, sentence: str) -> Fault:
    """Returns the fault of an entry in a table of a rule.

    Args:
        rule: `__file__` of the rule's module.
        key: String that is the key of the entry.
        sentence: The thing that is wrong with it.
    """
    path = pathlib.Path(rule)
    place = "/".join(path.parts[-3:])
    return Fault(place, line_of(path.read_text("utf-8"), f'"{key}"'), f"`{key}`: {sentence}")
