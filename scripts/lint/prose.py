"""Wording of changed lines: docstrings and comments of Python; Markdown of docs, READMEs, CONTRIBUTING."""

import ast
import io
import pathlib
import re
import sys
import tokenize
from collections.abc import Iterator
from typing import NamedTuple

from scripts.lint.sources import Fault, Repository


class Passage(NamedTuple):
    """A docstring, a block of comments, or a file of Markdown.

    Attributes:
        kind: `docstring`, `comment` or `markdown`.
        line: Its first line, from 1.
        text: Its lines, each without indentation and marks.
    """

    kind: str
    line: int
    text: str


class Pattern(NamedTuple):
    """Words to avoid.

    Attributes:
        name: The words, as a finding shows them.
        words: Regular expression; a line may end at each white space.
        instead: Words to write instead.
        kind: Kind of the passages that are searched; empty for all.
    """

    name: str
    words: str
    instead: str
    kind: str = ""


PATTERNS = (
    Pattern('"What" or "How" at the start', r"\A(What|How)\b", "a verb or the noun", "docstring"),
    Pattern('"Whether" at the start', r"\AWhether\b", '"Returns true if"', "docstring"),
    Pattern('"Of ..., ..." at the start', r"\AOf\s[^.:;]*,", "a full sentence", "comment"),
    Pattern('"Returns what"', r"\bReturns\swhat\b", '"Returns the"'),
    Pattern('"what it is"', r"\bwhat\s(it\sis|they\sare)\b", "the noun"),
    Pattern('"stands"', r"\bstands\b", '"is"'),
    Pattern('"told"', r"\btold\b", '"reported"'),
    Pattern('"said"', r"\bsaid\b", '"reported" or "named"'),
    Pattern('"go on"', r"\bgo(es)?\son\b", '"continue" or "resume"'),
    Pattern('"in the place of"', r"\bin\sthe\splace\sof\b", '"instead of"'),
)
_CODE = re.compile(r"`[^`\n]*`|^(>>>|\.\.\. ).*", re.MULTILINE)
_FENCED = re.compile(r"^ *(```|~~~).*?(^ *\1|\Z)", re.MULTILINE | re.DOTALL)
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def faults(repository: Repository) -> Iterator[Fault]:
    """Yields a fault for each pattern in a changed line.

    Args:
        repository: The files.
    """
    if repository.changed is None:
        print("The wording of changed lines is not checked: this checkout has no history.", file=sys.stderr)
    for path, changed in (repository.changed or {}).items():
        for passage in passages(path, changed.text):
            for line, end, pattern in found(passage):
                if not changed.lines.isdisjoint(range(line, end + 1)):
                    yield Fault(path, line, f"{pattern.name}: write {pattern.instead} instead")


def found(passage: Passage) -> Iterator[tuple[int, int, Pattern]]:
    """Yields the first and the last line of each match of a pattern, and the pattern.

    Args:
        passage: Passage to search.
    """
    text = _CODE.sub(lambda code: " " * len(code[0]), passage.text)
    for pattern in PATTERNS:
        if pattern.kind in ("", passage.kind):
            for match in re.finditer(pattern.words, text, 0 if pattern.kind else re.IGNORECASE):
                first = passage.line + text.count("\n", 0, match.start())
                yield first, first + match[0].count("\n"), pattern


def passages(path: str, text: str) -> Iterator[Passage]:
    """Yields the passages of a file; none for a file whose wording is not checked.

    Args:
        path: Path from the repository's root.
        text: Content of the file.
    """
    place = pathlib.PurePath(path)
    if place.suffix == ".py":
        yield from _docstrings(text)
        yield from _comments(text)
    elif place.suffix == ".md" and (place.parts[0] == "docs" or place.stem in ("README", "CONTRIBUTING")):
        blank = _FENCED.sub(lambda fenced: "\n" * fenced[0].count("\n"), text)
        yield Passage("markdown", 1, _stripped(blank.splitlines()))


def _docstrings(text: str) -> Iterator[Passage]:
    try:
        tree = ast.parse(text)
    except SyntaxError:
        # ruff reports it.
        return
    lines = text.splitlines()
    for node in ast.walk(tree):
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            first = node.body[0]
            literal = lines[first.lineno - 1 : first.end_lineno]
            yield Passage("docstring", first.lineno, re.sub(r'\A\w?"+', "", _stripped(literal)))


def _comments(text: str) -> Iterator[Passage]:
    """Yields comments; those of lines that follow one another without code are one."""
    block: list[tokenize.TokenInfo] = []
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError):
        return
    for token in tokens:
        if token.type == tokenize.COMMENT:
            if block and (block[-1].start[0] + 1 != token.start[0] or block[-1].start[1] != token.start[1]):
                yield _block(block)
                block = []
            block.append(token)
    if block:
        yield _block(block)


def _block(tokens: list[tokenize.TokenInfo]) -> Passage:
    return Passage("comment", tokens[0].start[0], _stripped([each.string.lstrip("#:") for each in tokens]))


def _stripped(lines: list[str]) -> str:
    return "\n".join(line.strip() for line in lines)
