"""Sources of the package, each parsed and walked once, and the faults that rules find in them."""

import ast
import itertools
import pathlib
import re
import subprocess
from collections.abc import Iterator
from typing import NamedTuple, TypeVar

from scripts.docs.build_file import Target, read_targets

Node = TypeVar("Node", bound=ast.AST)
PACKAGE = "firth"
_TEXTS = ("*.py", "*.md")
_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


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


class Changed(NamedTuple):
    """A file of Python or Markdown that differs from the base of a branch.

    Attributes:
        text: Content of the file.
        lines: Numbers of its new lines, from 1; those that were moved are not new.
    """

    text: str
    lines: frozenset[int]


class Repository(NamedTuple):
    """The files that rules look at.

    Attributes:
        sources: Parsed files of the package by their place.
        build: Content of BUILD.
        targets: Targets of BUILD.
        tests: Paths of the tests from their folder, without a suffix, such as `layers/norms_test`.
        folders: Paths of all folders of the package from its own, those of data among them.
        exports: Names that packages export, by the place of the file that defines them.
        stubs: Parsed stubs of packages by their place.
        changed: Changed files by their path from the root; None in a checkout without history.
    """

    sources: dict[str, Source]
    build: str
    targets: dict[str, Target]
    tests: frozenset[str]
    folders: frozenset[str]
    exports: dict[str, frozenset[str]]
    stubs: dict[str, Source]
    changed: dict[str, Changed] | None = None


def repository_of(texts: dict[str, str], build: str = "", tests: tuple[str, ...] = ()) -> Repository:
    """Returns a repository whose files are given as texts.

    Args:
        texts: Content of the package's files by their place, the stubs of packages among them.
        build: Content of BUILD.
        tests: Paths of the tests, as `Repository` has them.

    Raises:
        SyntaxError: A text is not Python.
    """
    parsed = {place: Source(place, text) for place, text in texts.items()}
    sources = {place: source for place, source in parsed.items() if place.endswith(".py")}
    stubs = {place: source for place, source in parsed.items() if place.endswith(".pyi")}
    folders = {str(parent) for place in texts for parent in pathlib.PurePath(place).parents} - {"."}
    return Repository(
        sources, build, read_targets(build), frozenset(tests), frozenset(folders), exports_of(texts), stubs
    )


def exports_of(texts: dict[str, str]) -> dict[str, frozenset[str]]:
    """Returns the names that packages export by the place of the file that defines them.

    A package exports the imports of its stub, or of its `__init__.py` where it has none.

    Example:

    >>> exports_of({"layers/__init__.pyi": "from .norms import Norm as Norm", "layers/norms.py": ""})
    {'layers/norms.py': frozenset({'Norm'})}
    """
    found: dict[str, set[str]] = {}
    for place, text in texts.items():
        folder, _, name = place.rpartition("/")
        if name == "__init__.pyi" or (name == "__init__.py" and f"{place}i" not in texts):
            package = ".".join(filter(None, (PACKAGE, *folder.split("/"))))
            for node in ast.parse(text).body:
                if isinstance(node, ast.ImportFrom):
                    module = ".".join(filter(None, (package if node.level else "", node.module)))
                    home = module.removeprefix(f"{PACKAGE}.").replace(".", "/") + ".py"
                    found.setdefault(home, set()).update(each.name for each in node.names)
    return {place: frozenset(names) for place, names in found.items() if place in texts}


def read_repository(root: pathlib.Path) -> Repository:
    """Returns the repository in a folder.

    Args:
        root: The folder of BUILD, `firth` and `tests`.

    Raises:
        SyntaxError: A file of the package is not Python.
    """
    package, tests = root / PACKAGE, root / "tests"
    files = sorted([*package.rglob("*.py"), *package.rglob("__init__.pyi")])
    texts = {path.relative_to(package).as_posix(): path.read_text("utf-8") for path in files}
    names = tuple(path.relative_to(tests).with_suffix("").as_posix() for path in tests.rglob("*_test.py"))
    folders = {path.relative_to(package).as_posix() for path in package.rglob("*") if path.is_dir()}
    read = repository_of(texts, (root / "BUILD").read_text("utf-8"), names)
    return read._replace(folders=frozenset(folders), changed=read_changes(root))


def read_changes(root: pathlib.Path) -> dict[str, Changed] | None:
    """Returns the files that differ from the merge base with origin/main, committed, tracked or not.

    On origin/main itself, and without it, they are compared with the commit before the last one.

    Args:
        root: The repository's root.

    Returns:
        Changed files by their path; None if there is no such commit.
    """
    if not (root / ".git").exists():
        return None
    head, base = _git(root, "rev-parse", "HEAD"), _git(root, "merge-base", "HEAD", "origin/main")
    if base in (None, head):
        base = _git(root, "rev-parse", "--verify", "HEAD~1")
    if base is None:
        return None
    options = ("--unified=0", "--no-color", "--no-ext-diff", "--src-prefix=a/", "--dst-prefix=b/")
    diff = _git(root, "-c", "core.quotePath=off", "diff", *options, base.strip(), "--", *_TEXTS) or ""
    others = _git(root, "ls-files", "-z", "--others", "--exclude-standard", "--", *_TEXTS) or ""
    added, removed = _diff_lines(diff)
    texts = {
        path: (root / path).read_text("utf-8", "replace")
        for path in {*added, *filter(None, others.split("\0"))}
    }
    changed = {}
    for path, text in texts.items():
        lines = dict(enumerate(text.splitlines(), start=1))
        numbers = added.get(path, lines.keys())
        new = frozenset(number for number in numbers if lines.get(number, "").strip() not in removed)
        changed[path] = Changed(text, new)
    return changed


def _diff_lines(diff: str) -> tuple[dict[str, set[int]], set[str]]:
    """Returns the numbers of added lines by their file, and removed lines without their indentation."""
    added: dict[str, set[int]] = {}
    removed: set[str] = set()
    numbers: set[int] = set()
    left = 0
    for line in diff.split("\n"):
        if left > 0:
            left -= not line.startswith("\\")
            if line.startswith("-"):
                removed.add(line[1:].strip())
        elif line.startswith("+++ b/"):
            numbers = added.setdefault(line[6:].rstrip("\t"), set())
        elif hunk := _HUNK.match(line):
            before, start, after = int(hunk[1] or 1), int(hunk[2]), int(hunk[3] or 1)
            numbers.update(range(start, start + after))
            left = before + after
    return added, removed


def _git(root: pathlib.Path, *arguments: str) -> str | None:
    try:
        ran = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return ran.stdout


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
