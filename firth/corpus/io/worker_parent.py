"""The process that `firth.corpus.io.workers` forks workers from: one a line of its input, which is JSON.

It imports what they need once, and starts no thread of its own, so that it may be forked.
"""

import json
import os
import signal
import sys
from typing import Any


def main() -> None:
    """Forks workers until the input ends."""
    from apache_beam.runners.worker import sdk_worker_main

    # The system takes note of children that end.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while line := sys.stdin.readline():
        if not os.fork():
            _work(sdk_worker_main, json.loads(line))


def _work(sdk_worker_main: Any, place: dict[str, Any]) -> None:
    status = 1
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.environ.clear()
        os.environ.update(place["environment"])
        os.chdir(place["folder"])
        sdk_worker_main.main([])
        status = 0
    finally:
        # Not the end of the parent's input, which a worker has no business with.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


if __name__ == "__main__":
    main()
