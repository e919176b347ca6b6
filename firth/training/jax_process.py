"""The process that trains on JAX, as the one that starts it sees it."""

import contextlib
import json
import logging
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from typing import Any

from firth.recipes.run.run_recipe import RunRecipe
from firth.training.termination import Termination, TrainingTerminated, termination_deferred

_MODULE = "firth.training.jax_backend"
_HOST_DEVICES = "--xla_force_host_platform_device_count"
_SECONDS = 0.5
# After its block of steps, or before the first.
_TERMINATED = (128 + signal.SIGTERM, -signal.SIGTERM)


class JaxTrainingError(RuntimeError):
    """The process that trains on JAX has ended with an error."""


def train_on_jax(recipe: RunRecipe, **places: Any) -> type[TrainingTerminated] | None:
    """Trains in a process of its own from the newest checkpoint to the end of the run.

    What it logs of its progress is logged here. A request to end is handed on to it as SIGTERM, and it ends
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
        error: list[str] = []
        reader = threading.Thread(target=_relay, args=(process.stdout, error))
        reader.start()
        try:
            _send(process, {"recipe": recipe.to_json(), **places})
            _wait(process, termination)
        finally:
            # It ends with what it reads.
            _close(process)
            process.wait()
            reader.join()
    if process.returncode not in (0, *_TERMINATED):
        raise JaxTrainingError(error[0] if error else _end_of(process.returncode))
    return None if process.returncode == 0 and not termination.is_set() else termination.stopped


def _end_of(status: int) -> str:
    """Returns how a process ended that said nothing of an error."""
    if status >= 0:
        return f"it ended with status {status}, and said nothing of an error"
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


def _send(process: subprocess.Popen[str], arguments: Mapping[str, Any]) -> None:
    # If it has ended, its status says so.
    if process.stdin is not None:
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(json.dumps(arguments) + "\n")
            process.stdin.flush()


def _close(process: subprocess.Popen[str]) -> None:
    if process.stdin is not None:
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()


def _wait(process: subprocess.Popen[str], termination: Termination) -> None:
    """Returns when the process has ended; it gets SIGTERM once this one has got it."""
    while process.poll() is None:
        if termination.wait(_SECONDS):
            process.terminate()
            process.wait()


def _relay(lines: Any, error: list[str]) -> None:
    """Logs what the process has logged, and keeps the error that it ended with."""
    for line in lines:
        said = json.loads(line)
        if "error" in said:
            error.append(said["error"])
            continue
        extra = {"firth": said["event"]} if said["event"] else None
        logging.getLogger(said["logger"]).log(said["level"], "%s", said["message"], extra=extra)
