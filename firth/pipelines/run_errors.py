"""Why a run could not begin, or did not come to its end."""

import pathlib


class RunLockedError(RuntimeError):
    """Another process is running in the same folder."""


class RunFolderError(ValueError):
    """A run's folder cannot have that name, or was made from something else."""


class RunFailedError(RuntimeError):
    """A component failed.

    Attributes:
        component: Its TFX id; None where the run failed before the first component.
        message: What went wrong, in a sentence or two.
        log_path: Where the whole story stands.
        corpus_page: The page on the corpus, where the run came so far as to write it.
    """

    def __init__(
        self,
        component: str | None,
        message: str,
        log_path: pathlib.Path,
        corpus_page: pathlib.Path | None = None,
    ):
        super().__init__(f"{component or 'the run'} failed: {message}")
        self.component, self.message, self.log_path = component, message, log_path
        self.corpus_page = corpus_page


def explain(error: BaseException) -> str:
    """Returns what an error says, without the annotations that Beam and TFX wrap around it.

    Example:

    >>> explain(OSError(28, "No space left on device", "/runs/x"))
    "[Errno 28] No space left on device: '/runs/x'"
    >>> explain(ValueError("no text [while running 'Read/Map']"))
    'no text'
    """
    message = str(error).split(" [while running")[0].strip()
    if "\n" in message and "Traceback (most recent call last)" in message:
        message = message.splitlines()[-1]
    return message or type(error).__name__
