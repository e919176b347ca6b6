"""The description of an exported model."""

import os
from typing import Any

from firth import storage

# Next to a SavedModel; TF Serving reads its own files there.
FOLDER = "assets.extra"
DESCRIPTION = "firth.json"


def read_description(directory: str) -> dict[str, Any]:
    """Returns the description next to a SavedModel, for which the model itself is not loaded.

    A model that another program exported has none, and no signature is described.

    Args:
        directory: Folder of the SavedModel.

    Returns:
        signatures: Of each signature on texts, by name, the default one first: `meaning`, `inputs` and
            `outputs` by name (`dtype`, `meaning` and `shape`, whose axes are numbers, or names where the size
            is not fixed), `invariant`, `parameters` (with their defaults and ranges), `example`, `choices`,
            `needs`, `answer` and `reads_heads`, as `firth.serving.signature.Signature` has them.
        other_signatures: Of each other signature its meaning, inputs and outputs.
        weights: Type, size and measured loss of the weights; see
            `firth.serving.storage_loss.described_weights`. Exports of several adapters have none.
        slots: What a model with slots says of them; see `firth.serving.slots.signatures.SlotSignatures`.
        recipe, tokenizer_digest, row_length, evaluation_sums, versions: What the model was made of, the most
            tokens of a row, and the sums that its metrics are made of.

    Raises:
        ValueError: if an earlier version of firth exported the model, and says something else.
    """
    path = os.path.join(directory, FOLDER, DESCRIPTION)
    described: dict[str, Any] | None = storage.read_json(path)
    if described is None:
        return {"signatures": {}, "other_signatures": {}}
    if not {"evaluation_sums", "other_signatures"} <= described.keys():
        raise ValueError(f"{path} is of an earlier version of firth: export the model again")
    return described
