"""Starts the process that trains on JAX, relays its messages and ends it."""

import contextlib
import json
import logging
import os
import signal
import subprocess
import sys
import threading
from typing import Any

from firth.recipes.run.run_recipe import RunRecipe
from firth.training.termination import Termination, TrainingTerminated, termination_deferred

_MODULE = "firth.training.jax_backend"
_HOST_DEVICES = "--xla_force_host_platform_device_count"
_SECONDS = 0.5
# The process may end after its block of steps, or before the first.
_TERMINATED = (128 + signal.SIGTERM, -signal.SIGTERM)


class JaxTrainingError(RuntimeError):
    """The process that trains on JAX has ended with an error."""


def train_on_jax(recipe: RunRecipe, **places: Any) -> type[TrainingTerminated] | None:
    """Trains in a process of its own from the newest checkpoint to the end of the run.

    Its messages are logged in this process. A request to end is sent to it as SIGTERM, and it ends
    when this one does.
    """
    with termination_deferred() as termination:
        process = subprocess.Popen(
            [sys.executable, "-m", _MODULE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=_environment(recipe),
            # Ctrl-C reaches this process alone.
            start_new_session=True,
        )
        assert process.stdin is not None
        error: list[str] = []
        reader = threading.Thread(target=_relay, args=(process.stdout, error))
        reader.start()
        try:
            # If the process has ended, its status is reported.
            with contextlib.suppress(BrokenPipeError):
                process.stdin.write(json.dumps({"recipe": recipe.to_json(), **places}) + "\n")
                process.stdin.flush()
            _wait(process, termination)
        finally:
            # The process ends with its standard input.
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()
            process.wait()
            reader.join()
    if process.returncode not in (0, *_TERMINATED):
        raise JaxTrainingError(error[0] if error else _end_of(process.returncode))
    return None if process.returncode == 0 and not termination.is_set() else termination.stopped


def _end_of(status: int) -> str:
    """Returns a sentence on a process that ended without an error message."""
    if status >= 0:
        return f"it ended with status {status} and without a message"
    name = signal.Signals(-status).name
    return f"it was ended by {name}" + (", as where memory runs out" if -status == signal.SIGKILL else "")


def _environment(recipe: RunRecipe) -> dict[str, str]:
    environment = {**os.environ, "KERAS_BACKEND": "jax"}
    devices = recipe.training.devices
    flags = environment.get("XLA_FLAGS", "")
    if devices > 1 and _HOST_DEVICES not in flags:
        # Read only where there is no GPU and no TPU.
        environment["XLA_FLAGS"] = f"{flags} {_HOST_DEVICES}={devices}".strip()
    return environment


def _wait(process: subprocess.Popen[str], termination: Termination) -> None:
    """Returns when the process has ended; it gets SIGTERM once this one has got it."""
    while process.poll() is None:
        if termination.wait(_SECONDS):
            process.terminate()
            process.wait()


def _relay(lines: Any, error: list[str]) -> None:
    """Logs the messages of the process, and keeps its error."""
    for line in lines:
        message = json.loads(line)
        if "error" in message:
            error.append(message["error"])
            continue
        extra = {"firth": message["event"]} if message["event"] else None
        logging.getLogger(message["logger"]).log(message["level"], "%s", message["message"], extra=extra)
