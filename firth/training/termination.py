"""Handles SIGTERM: it ends a training between two steps, with a checkpoint."""

import contextlib
import signal
import threading
from collections.abc import Iterator


class TrainingTerminated(SystemExit):
    """SIGTERM came; the steps that were made are saved.

    The process ends with status 143, as the shell reports for processes that SIGTERM ends.

    Args:
        step: Number of steps that were made; kept as an attribute.
        steps: Number of steps of the whole run.
        checkpoint: Folder of the checkpoint; kept as an attribute.
    """

    def __init__(self, step: int, steps: int, checkpoint: str) -> None:
        super().__init__(128 + signal.SIGTERM)
        self.step, self.checkpoint = step, checkpoint
        self.message = (
            f"terminated after step {step:,} of {steps:,}; the checkpoint {checkpoint} is saved, and the "
            "same command goes on from it"
        )

    def __str__(self) -> str:
        return self.message


@contextlib.contextmanager
def termination_deferred() -> Iterator[threading.Event]:
    """Keeps SIGTERM from ending the process for as long as the block runs, and tells whether it has come.

    Python lets only the main thread handle signals; in another one, nothing changes.

    Example:

    >>> with termination_deferred() as termination:
    ...     signal.raise_signal(signal.SIGTERM)
    ...     termination.is_set()
    True
    """
    termination = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield termination
        return
    previous = signal.signal(signal.SIGTERM, lambda number, frame: termination.set())
    try:
        yield termination
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL if previous is None else previous)
