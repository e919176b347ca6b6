"""Bytes of an exported model's tokens, which texts under a constraint need."""

import json
import os

from firth import storage
from firth.constraints.matcher import ConstraintError
from firth.constraints.token_bytes import TokenBytes
from firth.serving.exported_model import FOLDER

# Next to firth.json.
FILE = "token_bytes.json"


def write_token_bytes(directory: str, tokens: TokenBytes) -> None:
    """Writes the bytes of a model's tokens into the folder of its SavedModel.

    Args:
        directory: Folder of the SavedModel.
        tokens: The bytes; in the file a character up to U+00FF is a byte.
    """
    texts = [None if each is None else each.decode("latin-1") for each in tokens.texts]
    described = {"end_id": tokens.end_id, "texts": texts}
    storage.write_text(os.path.join(directory, FOLDER, FILE), json.dumps(described))


def read_token_bytes(directory: str) -> TokenBytes:
    """Returns the bytes of the tokens of an exported model.

    Args:
        directory: Folder of its SavedModel.

    Raises:
        ConstraintError: if an earlier version of firth exported it.
    """
    path = os.path.join(directory, FOLDER, FILE)
    described = storage.read_json(path)
    if described is None:
        raise ConstraintError(
            f"there is no {path}, which texts under a constraint need: export the model again"
        )
    texts = (None if each is None else each.encode("latin-1") for each in described["texts"])
    return TokenBytes(tuple(texts), int(described["end_id"]))
