"""The message about a model that was written."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Written:
    """What was written in another library's format.

    Attributes:
        files: Paths of the files, below the folder.
        notes: Sentences about what the files do not hold, or hold otherwise than the bundle.
    """

    files: tuple[str, ...]
    notes: tuple[str, ...] = ()
