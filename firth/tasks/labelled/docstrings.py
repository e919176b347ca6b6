"""The docstrings of installed packages, as summaries, bodies and parameters."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from firth.tasks.readers import RejectedLine

if TYPE_CHECKING:
    from firth.corpus.io.source_files import SourceFile
    from firth.corpus.readers.docstrings_source import Docstring

# Larger than any module that people write.
_MAX_FILE_BYTES = 2**25
PARAGRAPH = re.compile(r"\n[ \t]*\n")
# Examples in code, and the lines under titles.
_NO_PROSE = re.compile(r"^[ \t]*(>>>|\.\.\. |[-=~^*]{3,}[ \t]*$).*$", re.MULTILINE)


class DocstringText(NamedTuple):
    """A docstring in its parts. White space in summary and body is single spaces.

    Attributes:
        package: Name of the package.
        name: Qualified name of the function, class or module.
        file: Path of the file.
        line: Line of the definition.
        text: The docstring, with its lines.
        prose: The same without examples in code and without lines under titles.
        summary: First paragraph.
        body: The paragraphs after it, without examples in code; empty if only the summary is left.
        parameters: Names of the parameters.
    """

    package: str
    name: str
    file: str
    line: int
    text: str
    prose: str
    summary: str
    body: str
    parameters: tuple[str, ...]

    @property
    def id(self) -> str:
        """An id that no other docstring of the packages has."""
        return f"{self.package}/{self.name}:{self.line}"


def python_files(packages: Sequence[str]) -> "list[SourceFile]":
    """Returns the .py files of packages, without tests.

    Raises:
        firth.corpus.SourceError: if a package is not installed.
    """
    # Beam, which this imports, takes seconds.
    from firth.corpus.readers.docstrings_source import package_files

    return [file for package in packages for file in package_files("docstrings", package)]


def python_digests(packages: Sequence[str]) -> list[str]:
    """Returns the names of the .py files of packages, each followed by the digest of its content.

    Raises:
        firth.corpus.SourceError: if a package is not installed.
        OSError: if a file cannot be read.
    """
    from firth.corpus.io.content_digests import content_digests

    files, parts = python_files(packages), []
    for file, content in zip(files, content_digests(files), strict=True):
        if isinstance(content, OSError):
            raise content
        parts += [file.name, content.hex()]
    return parts


def docstring_texts(files: "Sequence[SourceFile]") -> tuple[list[DocstringText], list[RejectedLine]]:
    """Returns the different docstrings of files, and the files that could not be read.

    Of docstrings that are equal but for case and white space the first one stays, and none if several
    packages have them. Of those with one id, as in two files of one module's name, the first one stays.
    """
    from firth.corpus.io.file_contents import read_whole
    from firth.corpus.readers.docstrings_source import MALFORMED, parse_docstrings

    found, rejected = [], []
    for file in files:
        package, module = file.name.split("/", 1)
        content, problem = read_whole(file.path, _MAX_FILE_BYTES)
        if problem:
            rejected.append(RejectedLine(problem, file.path, 1, "the file cannot be read"))
            continue
        try:
            found += [_parts(package, file.path, each) for each in parse_docstrings(module, content.data)]
        except MALFORMED as error:
            line = getattr(error, "lineno", 1) or 1
            rejected.append(RejectedLine("malformed_python", file.path, line, str(error)))
    return _different(found), rejected


def _parts(package: str, file: str, docstring: "Docstring") -> DocstringText:
    name, line, text, parameters = docstring
    # UTF-8 cannot express a lone surrogate.
    text = text.encode("utf-8", "replace").decode()
    prose = _NO_PROSE.sub("", text.strip())
    summary, *body = PARAGRAPH.split(prose)
    return DocstringText(
        package,
        name,
        file,
        line,
        text,
        prose,
        _in_one_line(summary),
        _in_one_line(" ".join(body)),
        parameters,
    )


def _in_one_line(text: str) -> str:
    return " ".join(text.split())


def _different(found: list[DocstringText]) -> list[DocstringText]:
    first: dict[str, DocstringText] = {}
    packages: dict[str, set[str]] = {}
    for each in found:
        key = _in_one_line(each.text).casefold()
        first.setdefault(key, each)
        packages.setdefault(key, set()).add(each.package)
    by_id: dict[str, DocstringText] = {}
    for key, each in first.items():
        if len(packages[key]) == 1:
            by_id.setdefault(each.id, each)
    return list(by_id.values())
