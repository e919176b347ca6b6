"""Handles the notices that a process has to end: they end a training between two steps, with a checkpoint."""

import contextlib
import signal
import threading
from collections.abc import Iterator

from firth.training.maintenance import watching_maintenance


class TrainingTerminated(SystemExit):
    """SIGTERM came, or the notice that the machine goes; the steps that were made are saved.

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

    The event is also set by `watching_maintenance`. Python lets only the main thread handle signals; in
    another one, SIGTERM ends the process as before.

    Example:

    >>> with termination_deferred() as termination:
    ...     signal.raise_signal(signal.SIGTERM)
    ...     termination.is_set()
    True
    """
    termination = threading.Event()
    with watching_maintenance(termination), _signal_sets(termination):
        yield termination


@contextlib.contextmanager
def _signal_sets(termination: threading.Event) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = signal.signal(signal.SIGTERM, lambda number, frame: termination.set())
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL if previous is None else previous)
