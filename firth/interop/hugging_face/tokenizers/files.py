"""The files of a tokenizer in a folder, and what they say in common."""

import os
from collections.abc import Iterable, Mapping
from typing import Any

from firth import storage
from firth.interop import untrusted_files as given_files
from firth.interop.errors import InteropError

TOKENIZER_FILE = "tokenizer.json"
SETTINGS_FILE = "tokenizer_config.json"
SPECIALS_FILE = "special_tokens_map.json"
ADDED_FILE = "added_tokens.json"
# Unicode's property White_Space.
_SPACES = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
# Ids that no piece has: a piece that a vocabulary has twice leaves the first of its ids without one.
_MOST_WITHOUT, _SHARE_WITHOUT = 16, 0.1


class Folder:
    """A folder of Hugging Face's format."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)

    def place(self, name: str) -> str:
        """Returns the path of a file."""
        return os.path.join(self.path, name)

    def holds(self, name: str) -> bool:
        """Returns whether there is such a file."""
        return storage.exists(self.place(name))

    def text(self, name: str) -> str:
        """Returns the text of a file.

        Raises:
            InteropError: if there is no such file, or it is not UTF-8.
        """
        self._check_holds(name)
        return given_files.decoded_text(self.place(name))

    def lines(self, name: str) -> list[str]:
        """Returns the lines of a file, without the spaces at their ends, as `tokenizers` reads them.

        A mark of UTF-8 in front is no part of the first line.
        """
        # Only this ends a line: pieces may hold any other line end of Unicode.
        lines = self.text(name).removeprefix("\ufeff").removesuffix("\n").split("\n")
        return [line.rstrip(_SPACES) for line in lines]

    def content(self, name: str) -> Any:
        """Returns the content of a JSON file.

        Raises:
            InteropError: if there is no such file, or it is not JSON.
        """
        self._check_holds(name)
        return given_files.read_json(self.place(name))

    def _check_holds(self, name: str) -> None:
        if not self.holds(name):
            raise InteropError(f"{self.path} holds no {name}")

    def mapping(self, name: str) -> dict[str, Any]:
        """Returns the mapping that a file of JSON holds."""
        content = self.content(name)
        if not isinstance(content, dict):
            raise InteropError(f"{self.place(name)}: must hold a mapping")
        return content

    def optional(self, name: str) -> dict[str, Any]:
        """Returns the mapping in a JSON file; an empty one if there is no such file."""
        return self.mapping(name) if self.holds(name) else {}


def require(file: str, part: str, found: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    """Passes if settings are those that can be expressed here."""
    for key, value in wanted.items():
        if found.get(key, value) != value:
            raise InteropError(
                f"{file}: {part}.{key}: {found.get(key)!r} cannot be expressed here, {value!r} can"
            )


def require_settings(folder: Folder, wanted: Mapping[str, Any]) -> None:
    """Passes if the settings of a folder, where there are any, are those that can be expressed here.

    Raises:
        InteropError: for another value, by its key.
    """
    require(folder.place(SETTINGS_FILE), "tokenizer_config", folder.optional(SETTINGS_FILE), wanted)


def one_of(file: str, key: str, found: Any, known: Iterable[Any]) -> None:
    """Passes if a value is one of those that can be expressed here."""
    if found not in (known := list(known)):
        raise InteropError(
            f"{file}: {key}: {found!r} cannot be expressed here, {' or '.join(map(repr, known))} can"
        )


def in_order(file: str, key: str, ids: Mapping[str, Any]) -> list[str]:
    """Returns pieces in the order of their ids; for a few ids that none has, a piece that no text becomes."""
    pieces: dict[int, str] = {}
    for piece, index in ids.items():
        if not isinstance(index, int) or isinstance(index, bool):
            raise InteropError(f"{file}: {key}: {piece!r} has the id {index!r}, which is not a number")
        if index in pieces:
            raise InteropError(f"{file}: {key}: {pieces[index]!r} and {piece!r} have the same id, {index}")
        pieces[index] = piece
    rows = max(pieces, default=-1) + 1
    if rows - len(pieces) > max(_MOST_WITHOUT, _SHARE_WITHOUT * len(pieces)) or min(pieces, default=0) < 0:
        missing = next(index for index in range(len(pieces) + 1) if index not in pieces)
        raise InteropError(
            f"{file}: {key}: ids are not 0 to {len(pieces) - 1}, each once: there is no piece of id {missing}"
        )
    return [pieces.get(index, no_piece(index)) for index in range(rows)]


def no_piece(index: int) -> str:
    """Returns the name of an id without a piece; no piece of a word has a space in it, as this name has."""
    return f"[no piece {index}]"
