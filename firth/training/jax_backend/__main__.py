"""The process that trains on JAX, which `firth.training.jax_process` starts and sends its arguments."""

import json
import logging
import os
import sys
import threading
from typing import IO, Any

from firth.recipes.run.kinds import run_recipe_from_json


class _Messages(logging.Handler):
    """Writes log records as lines of JSON, for the process that started this one."""

    def __init__(self, lines: IO[str]) -> None:
        super().__init__()
        self._lines = lines

    def emit(self, record: logging.LogRecord) -> None:
        """Writes one record."""
        event = getattr(record, "firth", None)
        self.write(logger=record.name, level=record.levelno, message=record.getMessage(), event=event)

    def write(self, **values: Any) -> None:
        """Writes one line."""
        self._lines.write(json.dumps(values) + "\n")
        self._lines.flush()


def main() -> None:
    """Trains by the arguments on standard input, until the run or the process that started this one ends."""
    arguments = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_starter, daemon=True).start()
    messages = _Messages(os.fdopen(os.dup(sys.stdout.fileno()), "w"))
    # Output of libraries is not JSON.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    logger = logging.getLogger("firth")
    logger.setLevel(logging.INFO)
    logger.propagate = False
    logger.addHandler(messages)

    from firth.training import train
    from firth.training.jax_backend.parts import JAX

    recipe = run_recipe_from_json(arguments.pop("recipe"))
    try:
        train(recipe, **arguments, parts=JAX)
    except Exception as error:
        messages.write(error=f"{type(error).__name__}: {error}")
        raise


def _end_with_starter() -> None:
    """Ends this process when its standard input ends, since another may be started for the same run then."""
    sys.stdin.read()
    os._exit(1)


if __name__ == "__main__":
    main()
