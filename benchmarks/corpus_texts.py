"""Text for the benchmarks of the corpus: real documents, and as many as are wanted made of their lines."""

import contextlib
import itertools
import json
import os
import pathlib
import random
from collections.abc import Iterable, Iterator

from benchmarks.tokenization import docstrings

DATA = pathlib.Path(
    os.environ.get("FIRTH_SHARED_DATA", pathlib.Path(__file__).parents[2] / "shared" / "data")
)
PACKAGES = (
    "numpy", "pandas", "sklearn", "scipy", "matplotlib", "keras", "apache_beam", "tensorflow", "tfx",
)  # fmt: skip
PIECE_CHARACTERS = 3000
# Shares of the documents that are copies of an earlier one, and near copies.
COPIES, NEAR_COPIES = 0.03, 0.05


def pieces_of_books() -> Iterator[str]:
    """Yields pieces of whole paragraphs; nothing if no books are found."""
    for path in sorted((DATA / "gutenberg_books").glob("*.txt")):
        piece: list[str] = []
        for paragraph in path.read_text(encoding="utf-8", errors="replace").split("\n\n"):
            piece.append(paragraph)
            if sum(map(len, piece)) >= PIECE_CHARACTERS:
                yield "\n\n".join(piece)
                piece = []


def real_documents(megabytes: float) -> list[str]:
    """Returns docstrings and pieces of books by turns, as long as there are both."""
    both = itertools.zip_longest(itertools.chain.from_iterable(map(docstrings, PACKAGES)), pieces_of_books())
    documents, size = [], 0
    for text in filter(None, itertools.chain.from_iterable(both)):
        documents.append(text)
        size += len(text.encode())
        if size >= megabytes * 1e6:
            break
    return documents


def made_documents(real: list[str], megabytes: float) -> Iterator[str]:
    """Yields documents of lines of the real ones, always the same; some copy an earlier one."""
    lines = [line for text in real for line in text.splitlines(keepends=True) if line.strip()]
    size, number = 0, 0
    while size < megabytes * 1e6:
        text = _made(number, lines)
        yield text
        size += len(text.encode())
        number += 1


def _made(number: int, lines: list[str]) -> str:
    chance = random.Random(number)
    kind = chance.random()
    if number and kind < COPIES + NEAR_COPIES:
        other = _made(chance.randrange(number), lines)
        return other if kind < COPIES else other + chance.choice(lines)
    return "".join(chance.choices(lines, k=int(chance.paretovariate(1.2) * 8) % 400 + 3))


def write_jsonl(texts: Iterable[str], folder: pathlib.Path, files: int) -> tuple[int, int]:
    """Writes documents to so many files in turn, and returns how many there are and their bytes."""
    folder.mkdir(parents=True)
    count = size = 0
    with contextlib.ExitStack() as stack:
        paths = [folder / f"{i:03d}.jsonl" for i in range(files)]
        opened = [stack.enter_context(open(path, "w", encoding="utf-8")) for path in paths]
        for text in texts:
            opened[count % files].write(json.dumps({"id": str(count), "text": text}) + "\n")
            count += 1
            size += len(text.encode())
    return count, size
