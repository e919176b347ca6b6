"""The files of a tokenizer in a folder, and what they say in common."""

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

from firth import storage
from firth.interop.errors import InteropError

TOKENIZER_FILE = "tokenizer.json"
SETTINGS_FILE = "tokenizer_config.json"
SPECIALS_FILE = "special_tokens_map.json"
ADDED_FILE = "added_tokens.json"


class Folder:
    """A folder of Hugging Face's format.

    Args:
        path: Path of the folder, on this machine or with a scheme.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)

    def place(self, name: str) -> str:
        """Returns the path of a file.

        Args:
            name: Name of the file.
        """
        return os.path.join(self.path, name)

    def holds(self, name: str) -> bool:
        """Returns whether there is such a file.

        Args:
            name: Name of the file.
        """
        return storage.exists(self.place(name))

    def text(self, name: str) -> str:
        """Returns the text of a file.

        Args:
            name: Name of the file.

        Raises:
            InteropError: if there is no such file, or it is not UTF-8.
        """
        if not self.holds(name):
            raise InteropError(f"{self.path} holds no {name}")
        try:
            return storage.read_text(self.place(name))
        except UnicodeDecodeError as error:
            raise InteropError(f"{self.place(name)}: is not UTF-8: {error}") from None

    def lines(self, name: str) -> list[str]:
        """Returns the lines of a file, without their ends.

        Args:
            name: Name of the file.
        """
        # Only this ends a line: pieces may hold any other line end of Unicode.
        return self.text(name).removesuffix("\n").split("\n")

    def content(self, name: str) -> Any:
        """Returns what a file of JSON holds.

        Args:
            name: Name of the file.

        Raises:
            InteropError: if there is no such file, or it is not JSON.
        """
        text = self.text(name)
        try:
            return json.loads(text)
        except json.JSONDecodeError as error:
            raise InteropError(
                f"{self.place(name)}:{error.lineno}:{error.colno}: is not JSON: {error.msg}"
            ) from None

    def mapping(self, name: str) -> dict[str, Any]:
        """Returns the mapping that a file of JSON holds.

        Args:
            name: Name of the file.

        Raises:
            InteropError: if there is no such file, or it holds no mapping in JSON.
        """
        content = self.content(name)
        if not isinstance(content, dict):
            raise InteropError(f"{self.place(name)}: must hold a mapping")
        return content

    def optional(self, name: str) -> dict[str, Any]:
        """Returns what a file of JSON holds; nothing if there is no such file.

        Args:
            name: Name of the file.
        """
        return self.mapping(name) if self.holds(name) else {}


def require(file: str, part: str, found: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    """Passes if settings are those that can be expressed here.

    Args:
        file: Path of the file, for the error.
        part: Key of the settings in the file, for the error.
        found: Settings of the file; where one is missing, it is what is wanted.
        wanted: Settings that can be expressed.

    Raises:
        InteropError: for another value, by its key.
    """
    for key, value in wanted.items():
        if found.get(key, value) != value:
            raise InteropError(
                f"{file}: {part}.{key}: {found.get(key)!r} cannot be expressed here, {value!r} can"
            )


def require_settings(folder: Folder, wanted: Mapping[str, Any]) -> None:
    """Passes if the settings of a folder, where there are any, are those that can be expressed here.

    Args:
        folder: Folder of the tokenizer.
        wanted: Settings that can be expressed, with what else the folder says of the tokenizer.

    Raises:
        InteropError: for another value, by its key.
    """
    require(folder.place(SETTINGS_FILE), "tokenizer_config", folder.optional(SETTINGS_FILE), wanted)


def one_of(file: str, key: str, found: Any, known: Iterable[Any]) -> None:
    """Passes if a value is one of those that can be expressed here.

    Args:
        file: Path of the file, for the error.
        key: Key of the value, for the error.
        found: Value of the file.
        known: Values that can be expressed.

    Raises:
        InteropError: for another value.
    """
    if found not in (known := list(known)):
        raise InteropError(
            f"{file}: {key}: {found!r} cannot be expressed here, {' or '.join(map(repr, known))} can"
        )


def in_order(file: str, key: str, ids: Mapping[str, Any]) -> list[str]:
    """Returns pieces in the order of their ids.

    Args:
        file: Path of the file, for the error.
        key: Key of the vocabulary, for the error.
        ids: Ids by piece.

    Raises:
        InteropError: if the ids are not 0, 1, 2 and so on, with the first that is missing or there twice.
    """
    pieces: dict[int, str] = {}
    for piece, index in ids.items():
        if not isinstance(index, int):
            raise InteropError(f"{file}: {key}: {piece!r} has the id {index!r}, which is not a number")
        if index in pieces:
            raise InteropError(f"{file}: {key}: {pieces[index]!r} and {piece!r} have the same id, {index}")
        pieces[index] = piece
    missing = next((index for index in range(len(pieces)) if index not in pieces), None)
    if missing is not None:
        raise InteropError(
            f"{file}: {key}: ids are not 0 to {len(pieces) - 1}, each once: there is no piece of id {missing}"
        )
    return [pieces[index] for index in range(len(pieces))]
