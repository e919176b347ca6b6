"""Automata of schemas next to an exported model, which hold the texts of its slots without llguidance."""

import io
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from firth import storage
from firth.constraints.automaton import Automaton
from firth.constraints.token_automaton import TokenAutomaton
from firth.constraints.token_bytes import TokenBytes
from firth.serving.exported_model import FOLDER


def write_automaton(directory: str, name: str, automaton: TokenAutomaton) -> None:
    """Writes the automaton of a schema into the folder of a SavedModel, without the bytes of its tokens.

    Args:
        directory: Folder of the SavedModel.
        name: Name of the schema.
        automaton: The automaton.
    """
    buffer = io.BytesIO()
    parts: dict[str, Any] = {**_parts(automaton)}
    np.savez_compressed(buffer, **parts)
    with storage.whole_file(_path(directory, name)) as file:
        file.write(buffer.getvalue())


def read_automaton(directory: str, name: str, tokens: TokenBytes) -> TokenAutomaton:
    """Returns an automaton that `write_automaton` wrote.

    Args:
        directory: Folder of the SavedModel.
        name: Name of the schema.
        tokens: Bytes of the model's tokens.
    """
    with storage.open_file(_path(directory, name), "rb") as file:
        parts = np.load(io.BytesIO(file.read()))
        automaton = Automaton(*(parts[each] for each in Automaton._fields))
        return TokenAutomaton(automaton, tokens, *(parts[each] for each in ("masks", "levels", "needed")))


def _path(directory: str, name: str) -> str:
    return os.path.join(directory, FOLDER, f"schema_{name}.npz")


def _parts(automaton: TokenAutomaton) -> Mapping[str, npt.NDArray[Any]]:
    own = {name: getattr(automaton, name) for name in ("masks", "levels", "needed")}
    return {**automaton.automaton._asdict(), **own}
