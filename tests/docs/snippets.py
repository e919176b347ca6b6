"""The pages that people read, and the snippets in them."""

import pathlib
import re
from typing import NamedTuple

REPOSITORY = pathlib.Path(__file__).parents[2]
PAGES = sorted(
    [
        *(REPOSITORY / name for name in ("README.md", "CONTRIBUTING.md", "benchmarks/README.md")),
        *(REPOSITORY / "docs").rglob("*.md"),
    ]
)
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Snippet(NamedTuple):
    """A fenced block.

    Attributes:
        page: The page's path in the repository.
        line: The line of its first character.
        language: The word after the opening fence.
        text: The lines between the fences.
    """

    page: str
    line: int
    language: str
    text: str

    def __str__(self):
        return f"{self.page}:{self.line}"


def snippets_of(page: str, text: str) -> list[Snippet]:
    """Returns the fenced blocks of a page."""
    return [
        Snippet(page, text[: found.start()].count("\n") + 2, found[1], found[2])
        for found in _FENCE.finditer(text)
    ]


def all_snippets(*languages: str) -> list[Snippet]:
    """Returns the fenced blocks of all pages that are in one of some languages."""
    found = [
        snippet
        for path in PAGES
        for snippet in snippets_of(str(path.relative_to(REPOSITORY)), path.read_text(encoding="utf-8"))
    ]
    return [snippet for snippet in found if snippet.language in languages] if languages else found


def indented_blocks(text: str) -> list[str]:
    """Returns the first lines of blocks that Markdown takes for code because they are indented."""
    outside = _FENCE.sub("", text)
    return re.findall(r"(?:\A|\n)\s*\n((?:    |\t).+)", outside)


def commands(snippet: Snippet) -> list[str]:
    """Returns the commands of a shell snippet, each in one line and without its comment."""
    lines = snippet.text.replace("\\\n", " ").splitlines()
    return [command for line in lines if (command := re.sub(r"(^|\s+)#.*$", "", line).strip())]
