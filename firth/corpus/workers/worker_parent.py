"""Parent process of forked workers, of which it forks one for each line of JSON on its input.

It imports once what workers need. It starts no thread, because a process with threads cannot safely be
forked.
"""

import json
import os
import signal
import sys
from typing import Any


def main() -> None:
    """Forks a worker for each line of standard input, until the input ends."""
    from apache_beam.runners.worker import sdk_worker_main

    # The system reaps children that end.
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
        # The worker ends here and never reads the parent's input.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


if __name__ == "__main__":
    main()
