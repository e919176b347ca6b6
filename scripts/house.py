"""Figures of the package's size: `python -m scripts.house`, or `python -m scripts.house COMMIT` of a commit.

A line of a docstring is a docstring line, one with only a comment is a comment line, and any other that is
not blank is a code line. Importers of a module are the other files of the package, stubs among them, that
import it or a name of it. An `__init__` file with one statement has a docstring alone.
"""

import argparse
import ast
import io
import pathlib
import statistics
import subprocess
import sys
import tarfile
import tokenize
from collections.abc import Mapping, Sequence
from typing import NamedTuple

PACKAGE = "firth"
SUFFIXES = (".py", ".pyi")
# Tokens that take no place of their own on a line.
LAYOUT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


class Lines(NamedTuple):
    """Numbers of lines of one file.

    Attributes:
        code: Lines with code.
        docstrings: Lines of docstrings.
        comments: Lines that hold only a comment.
        total: All lines, blank ones among them.
    """

    code: int
    docstrings: int
    comments: int
    total: int


def lines_of(text: str) -> Lines:
    r"""Returns the numbers of lines of a Python file.

    Args:
        text: Content of the file.

    Example:

    >>> lines_of('"A.\n\nB."\n\n# C.\na = 1  # D.\n'.replace('"', '"' * 3))
    Lines(code=1, docstrings=3, comments=1, total=6)
    """
    docstrings: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        # A string of its own is the docstring of its block, or of the field above it.
        if isinstance(node, ast.Expr) and isinstance(getattr(node.value, "value", None), str):
            docstrings.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    code: set[int] = set()
    comments: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            comments.add(token.start[0])
        elif token.type not in LAYOUT:
            code.update(range(token.start[0], token.end[0] + 1))
    code -= docstrings
    return Lines(len(code), len(docstrings), len(comments - code - docstrings), len(text.splitlines()))


def importers(texts: Mapping[str, str]) -> dict[str, set[str]]:
    """Returns the modules that import each module; a stub counts as the file that it describes.

    Args:
        texts: Content of the files by their path from the repository's root.

    Example:

    >>> importers({"firth/a.py": "", "firth/b.py": "from firth import a"})
    {'firth.a': {'firth.b'}, 'firth.b': set()}
    """
    found: dict[str, set[str]] = {name_of(path): set() for path in texts if path.endswith(".py")}
    for path, text in texts.items():
        home = name_of(path)
        package = home if "/__init__.py" in path else home.rpartition(".")[0]
        for node in ast.walk(ast.parse(text)):
            for name in imported_names(node, package):
                # The longest part that is a module: the rest is a name in it.
                while name and name not in found:
                    name = name.rpartition(".")[0]
                if name and name != home:
                    found[name].add(home)
    return found


def imported_names(node: ast.AST, package: str) -> list[str]:
    """Returns the dotted names that a statement imports.

    Args:
        node: Any node.
        package: Dotted name of the package that relative imports start from.
    """
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if not isinstance(node, ast.ImportFrom):
        return []
    above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
    module = ".".join([*above, *filter(None, [node.module])])
    return [f"{module}.{alias.name}" for alias in node.names]


def name_of(path: str) -> str:
    """Returns the dotted name of a file of Python or of a stub.

    Args:
        path: Path from the repository's root.

    Example:

    >>> name_of("firth/a/b.py"), name_of("firth/a/__init__.pyi")
    ('firth.a.b', 'firth.a')
    """
    return path.rpartition(".")[0].replace("/", ".").removesuffix(".__init__")


def figures(texts: Mapping[str, str]) -> dict[str, str]:
    """Returns the figures of a package by their name.

    Args:
        texts: Content of its files by their path from the repository's root: modules and stubs.
    """
    modules = {path: text for path, text in texts.items() if path.endswith(".py")}
    lines = {path: lines_of(text) for path, text in modules.items()}
    inits = [path for path in modules if path.endswith("/__init__.py")]
    short = sum(len(ast.parse(modules[path]).body) == 1 for path in inits)
    packages = set(map(name_of, inits))
    by_module = {name: among for name, among in importers(texts).items() if name not in packages}
    single = {name: next(iter(among)) for name, among in by_module.items() if len(among) == 1}
    folders = {name_of(path): path.rpartition("/")[0] for path in modules}
    near = sum(folders[name] == folders[importer] for name, importer in single.items())
    longest = max(lines, key=lambda path: lines[path].total)
    sums = Lines(*map(sum, zip(*lines.values(), strict=True)))
    return {
        "modules": f"{len(modules):,}",
        "lines": f"{sums.total:,}",
        "code lines": f"{sums.code:,}",
        "docstring lines": f"{sums.docstrings:,}",
        "comment lines": f"{sums.comments:,}",
        "median file": f"{statistics.median(each.total for each in lines.values()):g} lines",
        "longest file": f"{lines[longest].total} lines, {longest}",
        "modules with one importer": f"{len(single)}, {near} of them in the same folder",
        "__init__ files with one statement": f"{short} of {len(inits)}",
        "importers a module": f"{statistics.fmean(map(len, by_module.values())):.2f}",
    }


def texts_of_tree(root: pathlib.Path) -> dict[str, str]:
    """Returns the modules and stubs of the package in a working tree by their path.

    Args:
        root: The repository's root.
    """
    files = sorted((root / PACKAGE).rglob("*.py*"))
    return {str(path.relative_to(root)): path.read_text("utf-8") for path in files if path.suffix in SUFFIXES}


def texts_of_commit(root: pathlib.Path, commit: str) -> dict[str, str]:
    """Returns the modules and stubs of the package in a commit by their path.

    Args:
        root: The repository's root.
        commit: Name of the commit.

    Raises:
        subprocess.CalledProcessError: The repository has no such commit.
    """
    command = ["git", "-C", str(root), "archive", commit, PACKAGE]
    archive = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        members = [each for each in tar if each.isfile() and pathlib.PurePath(each.name).suffix in SUFFIXES]
        return {each.name: tar.extractfile(each).read().decode("utf-8") for each in members}


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the figures, and returns the status to exit with.

    Args:
        arguments: Arguments of the command, without its name.
    """
    parser = argparse.ArgumentParser(
        prog="python -m scripts.house", description="Figures of the package's size."
    )
    parser.add_argument("commit", nargs="?", help="a commit; without it the working tree")
    commit, root = parser.parse_args(arguments).commit, pathlib.Path.cwd()
    try:
        texts = texts_of_commit(root, commit) if commit else texts_of_tree(root)
    except subprocess.CalledProcessError as error:
        # git has printed the reason.
        return error.returncode
    for name, figure in figures(texts).items():
        print(f"{name:36}{figure}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
