"""Handles the requests that a process has to end: they end a training at a step, with a checkpoint."""

import contextlib
import http.client
import logging
import os
import signal
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

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
        # The model with the weights of that step, for a process that continues without the checkpoint.
        self.model: Any = None
        self.message = (
            f"{self.word} after step {step:,} of {steps:,}; the checkpoint {checkpoint} is saved, and the "
            "same command resumes from it"
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
    """Keeps SIGTERM and Ctrl-C from ending the process while the block runs, and sets an event for them.

    The event is also set by `watching_maintenance`. In a thread other than the main one, signals end the
    process as before.

    Example:

    >>> with termination_deferred() as termination:
    ...     signal.raise_signal(signal.SIGTERM)
    ...     termination.is_set()
    True
    """
    termination = Termination()
    with watching_maintenance(termination), signals_handled(termination.take):
        yield termination


@contextlib.contextmanager
def signals_handled(
    handler: Callable[[int, Any], None], numbers: Sequence[signal.Signals] = _REQUESTS
) -> Iterator[None]:
    """Handles signals by a function for as long as the block runs.

    Python lets only the main thread handle signals; in another one, this does nothing. A signal that the
    process ignores stays ignored.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = {
        number: signal.signal(number, handler)
        for number in numbers
        if signal.getsignal(number) is not signal.SIG_IGN
    }
    try:
        yield
    finally:
        for number, before in previous.items():
            signal.signal(number, signal.SIG_DFL if before is None else before)


# Google's own libraries read it; tests replace the metadata server by it.
HOST_VARIABLE = "GCE_METADATA_HOST"
_HOST = "metadata.google.internal"
_PRODUCT_NAME = "/sys/class/dmi/id/product_name"
# The server answers after so many seconds at the latest, also where nothing has changed.
_WAIT, _RETRY = 60, 5
# No proxy of the environment reaches a server that answers this machine alone.
_ask = urllib.request.build_opener(urllib.request.ProxyHandler({})).open
_LOG = logging.getLogger(__name__)


class _Notice(NamedTuple):
    """A key of the instance's metadata, its value when the machine goes, and the reason."""

    key: str
    value: str
    reason: str


# A machine that is migrated while it runs continues, and so does the training.
_NOTICES = (
    _Notice("maintenance-event", "TERMINATE_ON_HOST_MAINTENANCE", "maintenance of its host"),
    _Notice("preempted", "TRUE", "preemption"),
)


@contextlib.contextmanager
def watching_maintenance(termination: threading.Event) -> Iterator[None]:
    """Sets an event when the machine is about to be taken away, for as long as the block runs.

    On a machine of Compute Engine, TPU machines among them, two threads wait for the metadata server, which
    announces maintenance a minute before, and preemption half a minute. Elsewhere nothing is requested.
    """
    host = metadata_host()
    ended = threading.Event()
    if host:
        for notice in _NOTICES:
            # Not waited for: a request may last a minute.
            threading.Thread(target=_watch, args=(host, notice, termination, ended), daemon=True).start()
    try:
        yield
    finally:
        ended.set()


def metadata_host() -> str:
    """Returns the address of the metadata server; empty on a machine that has none."""
    if named := os.environ.get(HOST_VARIABLE):
        return named
    try:
        with open(_PRODUCT_NAME, encoding="utf-8") as file:
            return _HOST if file.read().startswith("Google") else ""
    except OSError:
        return ""


def _watch(host: str, notice: _Notice, termination: threading.Event, ended: threading.Event) -> None:
    etag = ""
    while not ended.is_set() and not termination.is_set():
        url = f"http://{host}/computeMetadata/v1/instance/{notice.key}"
        # The first request is answered at once.
        if etag:
            url += f"?wait_for_change=true&timeout_sec={_WAIT}&last_etag={etag}"
        try:
            request = urllib.request.Request(url, headers={"Metadata-Flavor": "Google"})
            with _ask(request, timeout=2 * _WAIT) as answer:
                value, etag = answer.read().decode().strip(), answer.headers.get("ETag", "")
        except (OSError, http.client.HTTPException) as error:
            _LOG.debug("the metadata server did not answer about %s: %s", notice.key, error)
            value, etag = "", ""
        if value == notice.value and not ended.is_set():
            _LOG.warning("this machine is about to be taken away: %s", notice.reason)
            termination.set()
        elif not etag:
            ended.wait(_RETRY)
