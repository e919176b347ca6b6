"""Handles the requests that a process has to end: they end a training at a step, with a checkpoint."""

import contextlib
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

from firth.training.maintenance import watching_maintenance

# One press of Ctrl-C may come more than once, where a program in between hands it on.
_SAME_PRESS_SECONDS = 0.5
_REQUESTS = (signal.SIGTERM, signal.SIGINT)


class TrainingTerminated(SystemExit):
    """SIGTERM came, or the notice that the machine goes; the steps that were made are saved.

    The process ends with status 143, as the shell reports for processes that SIGTERM ends.
    """

    number, word = int(signal.SIGTERM), "terminated"

    def __init__(self, step: int, steps: int, checkpoint: str) -> None:
        super().__init__(128 + self.number)
        self.step, self.checkpoint = step, checkpoint
        self.message = (
            f"{self.word} after step {step:,} of {steps:,}; the checkpoint {checkpoint} is saved, and the "
            "same command goes on from it"
            if step
            else f"{self.word} before the first of {steps:,} steps; the same command starts with it"
        )

    def __str__(self) -> str:
        return self.message


class TrainingInterrupted(TrainingTerminated, KeyboardInterrupt):
    """Ctrl-C was pressed; the steps that were made are saved. The status is 130."""

    number, word = int(signal.SIGINT), "interrupted"


class StopRequested(BaseException):
    """A request to end came while `Termination.at_once` waited for one."""


class Termination(threading.Event):
    """The event of a request to end: SIGTERM, Ctrl-C, or the notice that the machine goes.

    Attributes:
        stopped: The error that such a request ends a training with.
    """

    def __init__(self) -> None:
        super().__init__()
        self.stopped: type[TrainingTerminated] = TrainingTerminated
        self._raises = False
        self._pressed: float | None = None

    def take(self, number: int, frame: Any = None) -> None:
        """Takes a signal. A second Ctrl-C is a plain KeyboardInterrupt.

        Raises:
            StopRequested: within `at_once`.
        """
        if number == signal.SIGINT:
            now = time.monotonic()
            if self._pressed is not None:
                if now - self._pressed > _SAME_PRESS_SECONDS:
                    raise KeyboardInterrupt
                return
            self._pressed = now
        if not self.is_set():
            self.stopped = TrainingInterrupted if number == signal.SIGINT else TrainingTerminated
        self.set()
        self._stop_here()

    @contextlib.contextmanager
    def at_once(self) -> Iterator[None]:
        """Lets a request end the block where it is, instead of being looked at later.

        Raises:
            StopRequested: for a request, one that has come before too.
        """
        self._raises = True
        try:
            if self.is_set():
                self._stop_here()
            yield
        finally:
            self._raises = False

    def _stop_here(self) -> None:
        if self._raises:
            self._raises = False
            raise StopRequested


@contextlib.contextmanager
def termination_deferred() -> Iterator[Termination]:
    """Keeps SIGTERM and Ctrl-C from ending the process for as long as the block runs, and tells of them.

    The event is also set by `watching_maintenance`. Python lets only the main thread handle signals; in
    another one, they end the process as before. A signal that the process ignores stays ignored.

    Example:

    >>> with termination_deferred() as termination:
    ...     signal.raise_signal(signal.SIGTERM)
    ...     termination.is_set()
    True
    """
    termination = Termination()
    with watching_maintenance(termination), _signals_taken(termination):
        yield termination


@contextlib.contextmanager
def _signals_taken(termination: Termination) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = {
        number: signal.signal(number, termination.take)
        for number in _REQUESTS
        if signal.getsignal(number) is not signal.SIG_IGN
    }
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
