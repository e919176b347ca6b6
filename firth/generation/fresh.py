"""The heads of a bundle that nobody has trained."""

import os

from firth.models.bundle import open_weights, untrained_weights


def fresh_heads(folder: str | os.PathLike[str]) -> list[str]:
    """Returns the names of the heads whose weights are as a seed made them, so that texts are random."""
    with open_weights(folder) as file:
        paths = [path for path in untrained_weights(file) if path.startswith("heads/")]
    return list(dict.fromkeys("/".join(path.split("/")[:2]) for path in paths))
