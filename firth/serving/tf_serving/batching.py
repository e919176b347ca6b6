"""How TF Serving joins requests to batches, as a file next to an exported model."""

import os

from firth import storage
from firth.serving.description import FOLDER

FILE = "batching_parameters.txt"

# Fields of TF Serving's `BatchingParameters`. Graphs take batches of any size, so that none is padded to one
# that is allowed, and a text is one value, so that no input is padded.
PARAMETERS = {
    # Requests' rows that are answered together at most.
    "max_batch_size": 32,
    # What a request waits for others at most: less than a small model needs for a batch.
    "batch_timeout_micros": 2_000,
    # Batches that are computed at once. Each also uses the session's own threads.
    "num_batch_threads": 4,
    # Batches that may wait; a request that comes later is refused at once.
    "max_enqueued_batches": 100,
}


def batching_text() -> str:
    """Returns the parameters as the text of a protocol buffer.

    Example:

    >>> print(batching_text().splitlines()[0])
    max_batch_size { value: 32 }
    """
    return "".join(f"{name} {{ value: {value} }}\n" for name, value in PARAMETERS.items())


def write_batching(directory: str) -> None:
    """Writes the parameters into the folder of a SavedModel, next to the warm-up requests."""
    storage.write_text(os.path.join(directory, FOLDER, FILE), batching_text())
