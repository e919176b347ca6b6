"""What an exported model says about itself."""

import os
from typing import Any

from firth import storage

# Next to a SavedModel; TF Serving reads its own files there.
FOLDER = "assets.extra"
DESCRIPTION = "firth.json"


def read_description(directory: str) -> dict[str, Any]:
    """Returns the description next to a SavedModel: recipe, signatures, sums and versions.

    A model that another program exported has none of them, and no signature is described.

    Args:
        directory: Folder of the SavedModel.

    Raises:
        ValueError: if an earlier version of firth exported the model, and says something else.
    """
    path = os.path.join(directory, FOLDER, DESCRIPTION)
    described: dict[str, Any] | None = storage.read_json(path)
    if described is None:
        return {"signatures": {}}
    if "evaluation_sums" not in described:
        raise ValueError(f"{path} is of an earlier version of firth: export the model again")
    return described
