"""Handles SIGTERM and Ctrl-C during a local run: a line at once, and the end of all child processes."""

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator

import psutil

from firth.training.termination import signals_handled

GRACE_SECONDS = 5.0
# One press of Ctrl-C may come more than once, where a program in between passes it on.
_SAME_PRESS_SECONDS = 0.5
# No signal has this number.
_END = b"\0"
_INTERRUPTED = 128 + signal.SIGINT


class RunTerminated(SystemExit):
    """SIGTERM came; the process ends with status 143, as the shell reports for processes that it ends."""

    def __init__(self) -> None:
        super().__init__(128 + signal.SIGTERM)

    def __str__(self) -> str:
        return "terminated; the same command continues where this one stopped"


@contextlib.contextmanager
def end_children_on_signals(on_signal: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Turns SIGTERM into `RunTerminated`, and ends all child processes if the block is interrupted.

    A second Ctrl-C ends the process and its children at once. Python lets only the main thread handle
    signals; in another one, they end the process as usual.
    """
    if threading.current_thread() is not threading.main_thread():
        with _children_ended():
            yield
        return
    with signals_handled(_terminate, [signal.SIGTERM]), _watched(on_signal), _children_ended():
        yield


@contextlib.contextmanager
def _children_ended() -> Iterator[None]:
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        end_children()
        raise


@contextlib.contextmanager
def _watched(on_signal: Callable[[], None]) -> Iterator[None]:
    """Reads the numbers of signals in a thread. Python's own handlers wait for the code of C++ to return."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    before = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    watch = threading.Thread(target=_watch, args=(reading, on_signal), daemon=True)
    watch.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        # The pipe does not end with this end of it, which forked children have too.
        os.write(writing, _END)
        watch.join()
        os.close(writing)
        os.close(reading)


def _watch(reading: int, on_signal: Callable[[], None]) -> None:
    pressed, is_reported = None, False
    while (number := os.read(reading, 1)) != _END:
        if number[0] not in (signal.SIGINT, signal.SIGTERM):
            continue
        now = time.monotonic()
        if number[0] == signal.SIGINT:
            if pressed is not None and now - pressed > _SAME_PRESS_SECONDS:
                _kill(psutil.Process().children(recursive=True))
                os._exit(_INTERRUPTED)
            pressed = now if pressed is None else pressed
        if not is_reported:
            is_reported = True
            on_signal()


# A child that is forked has the signals of its own, and would write to the thread of this process.
os.register_at_fork(after_in_child=lambda: signal.set_wakeup_fd(-1))


def end_children() -> None:
    """Asks all child processes to end, and kills those that are still there a few seconds later."""
    children = psutil.Process().children(recursive=True)
    for child in children:
        with contextlib.suppress(psutil.Error):
            child.terminate()
    _kill(psutil.wait_procs(children, timeout=GRACE_SECONDS)[1])


def _kill(children: list[psutil.Process]) -> None:
    for child in children:
        with contextlib.suppress(psutil.Error):
            child.kill()
    # They are gone when somebody has taken notice of their end.
    psutil.wait_procs(children, timeout=1.0)


def _terminate(number: int, frame: object) -> None:
    raise RunTerminated
