"""Docstrings of Python packages, which are parsed with `ast` and never imported."""

import ast
import contextlib
import functools
import gc
import os
import sys
import sysconfig
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from firth.corpus.documents.document import Document
from firth.corpus.documents.errors import SourceError
from firth.corpus.documents.rejection import Rejection
from firth.corpus.io.file_contents import RawRecord, read_whole
from firth.corpus.io.source_files import SourceFile
from firth.corpus.readers.decoding import StatedFields, check_text, read_or_reject, reject
from firth.recipes.corpus.sources import DocstringsSource
from firth.recipes.run.packages import find_package, suggest_package

# The limit for a module. The source's limit is for docstrings, which are the documents.
MAX_FILE_BYTES = 2**25
# The fields of statements that hold further statements.
BLOCK_FIELDS = ("body", "handlers", "cases", "orelse", "finalbody")
Definition = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
# Errors of `parse_docstrings`. For code that is nested too deeply, the parser of Python 3.10 raises
# MemoryError.
MALFORMED = (SyntaxError, ValueError, RecursionError, MemoryError)
# Caches, other packages, and tests, whose docstrings are short and which some Python distributions leave out.
SKIPPED_FOLDERS = {"__pycache__", "idle_test", "site-packages", "test", "tests"}
STANDARD_LIBRARY = "python"


class Docstring(NamedTuple):
    """A docstring and its definition.

    Attributes:
        name: Qualified name, beginning with that of the module.
        line: Line of the definition.
        text: The docstring, with its indentation removed.
        parameters: Names of the function's parameters, or of those of the class's `__init__`; without `self`
            and `cls`.
    """

    name: str
    line: int
    text: str
    parameters: tuple[str, ...]


def list_python_files(source: DocstringsSource) -> list[SourceFile]:
    """Returns the .py files of a source's packages, without tests.

    Raises:
        SourceError: if a package is not installed.
    """
    files = standard_library_files() if source.standard_library else []
    for package in source.packages:
        files += package_files(source.name, package)
    return files


def read_docstrings(source: DocstringsSource, file: SourceFile) -> Iterator[Document | Rejection]:
    """Yields a document for each docstring of a file, with its indentation removed as by `inspect.cleandoc`.

    The address is `docstring:package/qualified.name`, followed by `#2`, `#3` for further definitions of the
    same name in the file. The id depends on the file as well, since a function of a package and a module in
    it may have the same name. The reasons of rejection are `malformed_python`, `too_long`,
    `unpaired_surrogate` and `unreadable`.
    """
    content, problem = read_whole(file.path, MAX_FILE_BYTES)
    if problem:
        yield reject(source, file.place, 0, problem, content.data, content.size)
        return
    yield from _read_module(source, file, content.data)


def _read_module(source: DocstringsSource, file: SourceFile, code: bytes) -> Iterator[Document | Rejection]:
    package, module = file.name.split("/", 1)
    try:
        found = parse_docstrings(module, code)
    except MALFORMED as error:
        yield reject(source, file.place, getattr(error, "lineno", 0) or 0, "malformed_python", code)
        return
    seen: Counter[str] = Counter()
    for name, line, text, _ in found:
        seen[name] += 1
        uri = f"docstring:{package}/{name}" + (f"#{seen[name]}" if seen[name] > 1 else "")
        yield _document_or_rejection(source, file, line, uri, text)


def parse_docstrings(module: str, code: bytes) -> list[Docstring]:
    """Returns the docstrings of a module, in their order.

    Raises:
        Exception: one of `MALFORMED`, if it is not Python.

    Example:

    >>> parse_docstrings("a", b"def swim(far, *, fast=True): 'Swims.'")
    [Docstring(name='a.swim', line=1, text='Swims.', parameters=('far', 'fast'))]
    """
    with _without_garbage_collection(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return list(_docstrings(module, ast.parse(code)))


@contextlib.contextmanager
def _without_garbage_collection() -> Iterator[None]:
    # A syntax tree consists of many objects and no garbage: garbage collection nearly doubles the time.
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _document_or_rejection(
    source: DocstringsSource, file: SourceFile, line: int, uri: str, text: str
) -> Document | Rejection:
    data = text.encode("utf-8", "backslashreplace")
    record = RawRecord(line, data, len(data), "too_long" if len(data) > source.max_document_bytes else None)
    place = f"{uri} in {file.name}"
    return read_or_reject(
        lambda: (check_text(text), StatedFields(uri=uri)), source, file.place, record, place
    )


def _docstrings(name: str, node: Definition) -> Iterator[Docstring]:
    text = ast.get_docstring(node)
    if text and not text.isspace():
        yield Docstring(name, getattr(node, "lineno", 1), text, _parameters(node))
    for definition in _definitions(node.body):
        yield from _docstrings(f"{name}.{definition.name}", definition)


def _parameters(node: Definition) -> tuple[str, ...]:
    if isinstance(node, ast.ClassDef):
        node = next((each for each in node.body if getattr(each, "name", "") == "__init__"), node)  # type: ignore[assignment]
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return ()
    given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    return tuple(each.arg for each in given if each.arg not in ("self", "cls"))


def _definitions(body: list[ast.stmt]) -> Iterator[ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef]:
    # Walking statements only, and no expression, is several times faster than ast.walk.
    for node in body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node
            continue
        for field in _block_fields(node._fields):
            yield from _definitions(getattr(node, field))


@functools.cache
def _block_fields(fields: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(field for field in fields if field in BLOCK_FIELDS)


def package_files(source_name: str, package: str) -> list[SourceFile]:
    """Returns the .py files of an installed package, sorted by path and named `package/dotted.module`."""
    spec = find_package(package)
    if spec is None:
        nearest = suggest_package(package)
        raise SourceError(f"source {source_name!r}: no package {package!r} is installed{nearest}")
    if spec.submodule_search_locations is None:
        places: Iterable[str] = [spec.origin or ""]
    else:
        places = spec.submodule_search_locations
    files = [file for place in places for file in _files_under(place, package, package)]
    if not files:
        raise SourceError(f"source {source_name!r}: package {package!r} has no .py file")
    return sorted(files)


def standard_library_files() -> list[SourceFile]:
    """Returns the .py files of the standard library, sorted by path and named `python/dotted.module`."""
    folder = sysconfig.get_paths()["stdlib"]
    files: list[SourceFile] = []
    for module in sorted(sys.stdlib_module_names):
        for place in (os.path.join(folder, module), os.path.join(folder, f"{module}.py")):
            files += _files_under(place, STANDARD_LIBRARY, module)
    return sorted(files)


def _files_under(place: str, package: str, module: str) -> Iterator[SourceFile]:
    if place.endswith(".py") and os.path.isfile(place):
        yield _source_file(place, package, module)
    for folder, subfolders, names in os.walk(place):
        subfolders[:] = sorted(set(subfolders) - SKIPPED_FOLDERS)
        inner = os.path.relpath(folder, place).split(os.sep)
        for name in names:
            if name.endswith(".py"):
                parts = [module, *inner, name.removesuffix(".py")]
                dotted = ".".join(part for part in parts if part not in (".", "__init__"))
                yield _source_file(os.path.join(folder, name), package, dotted)


def _source_file(path: str, package: str, module: str) -> SourceFile:
    status = os.stat(path)
    return SourceFile(path, f"{package}/{module}", status.st_size, status.st_mtime)
