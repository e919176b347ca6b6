"""SIGTERM and Ctrl-C during a local run: prints a message and ends all child processes."""

import contextlib
import signal
import threading
from collections.abc import Iterator

import psutil

GRACE_SECONDS = 5.0


class RunTerminated(SystemExit):
    """SIGTERM came; the process ends with status 143, as the shell reports for processes that it ends."""

    def __init__(self) -> None:
        super().__init__(128 + signal.SIGTERM)

    def __str__(self) -> str:
        return "terminated; the same command goes on where this one stopped"


@contextlib.contextmanager
def ending_with_children() -> Iterator[None]:
    """Turns SIGTERM into `RunTerminated`, and ends all child processes if the block is interrupted.

    Python lets only the main thread handle signals; in another one, SIGTERM ends the process as usual.
    """
    in_main = threading.current_thread() is threading.main_thread()
    previous = signal.signal(signal.SIGTERM, _terminate) if in_main else None
    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        end_children()
        raise
    finally:
        if in_main:
            signal.signal(signal.SIGTERM, signal.SIG_DFL if previous is None else previous)


def end_children() -> None:
    """Asks all child processes to end, and kills those that are still there a few seconds later."""
    children = psutil.Process().children(recursive=True)
    for child in children:
        with contextlib.suppress(psutil.Error):
            child.terminate()
    for child in psutil.wait_procs(children, timeout=GRACE_SECONDS)[1]:
        with contextlib.suppress(psutil.Error):
            child.kill()


def _terminate(number: int, frame: object) -> None:
    raise RunTerminated
