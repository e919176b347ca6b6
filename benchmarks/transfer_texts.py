"""The texts that the models of `benchmarks.transfer` are pre-trained on."""

import pathlib
from collections.abc import Callable
from typing import NamedTuple

from benchmarks.learning_corpus import SOURCE
from firth.recipes.corpus.sources import JsonlSource, Source, TextSource, WikiextractorSource

# English of the last 150 years; the other books of the folder are older, longer or in verse.
_BOOKS = (
    "11_Alice-s-Adventures-in-Wonderland.txt",
    "120_Treasure-Island.txt",
    "1661_The-Adventures-of-Sherlock-Holmes.txt",
    "174_The-Picture-of-Dorian-Gray.txt",
    "345_Dracula.txt",
    "35_The-Time-Machine.txt",
    "36_The-War-of-the-Worlds.txt",
    "74_The-Adventures-of-Tom-Sawyer.txt",
    "76_Adventures-of-Huckleberry-Finn.txt",
)


class Text(NamedTuple):
    """A text to pre-train on.

    Attributes:
        about: Description for the reader of a table.
        sources: Returns its sources below the folder of published data.
    """

    about: str
    sources: Callable[[pathlib.Path], list[Source]]


def _docstrings(data: pathlib.Path) -> list[Source]:
    return [SOURCE]


def _english(data: pathlib.Path) -> list[Source]:
    books = tuple(f"{data}/gutenberg_books/{name}" for name in _BOOKS)
    wikitext = tuple(f"{data}/wikitext2/wiki.{split}.raw" for split in ("valid", "test"))
    return [
        WikiextractorSource(kind="wikiextractor", paths=(f"{data}/wiki_extract/wiki_*",)),
        TextSource(kind="text", name="wikitext2", paths=wikitext),
        JsonlSource(kind="jsonl", name="c4", paths=(f"{data}/c4/c4_docs.jsonl",)),
        TextSource(kind="text", name="books", paths=books),
    ]


DOCSTRINGS = "docstrings"
TEXTS = {
    DOCSTRINGS: Text("docstrings of this installation", _docstrings),
    "english": Text("Wikipedia, web pages and books", _english),
}


def folder_of(folder: pathlib.Path, name: str) -> pathlib.Path:
    """Returns the folder of a text's corpus and models, below the folder of the benchmark."""
    return folder if name == DOCSTRINGS else folder / name
