"""The validation of served models in a process forked off a server that has TensorFlow in memory."""

import contextlib
import subprocess
import types
from collections.abc import Iterator, Sequence
from unittest import mock

from tests.fresh_process import run_python


@contextlib.contextmanager
def forked_validation() -> Iterator[None]:
    """Lets `validate_serving` load models in forks, so that none imports TensorFlow anew.

    `tests/serving/validation_test.py` tests the process that users get.
    """
    quick = types.SimpleNamespace(run=_run, TimeoutExpired=subprocess.TimeoutExpired)
    with mock.patch("firth.serving.validation.subprocess", quick):
        yield


def _run(command: Sequence[str], cwd: str, timeout: float, **_: object) -> subprocess.CompletedProcess[bytes]:
    _, isolated, *script = command
    assert isolated == "-I"
    done = run_python(script, cwd=cwd, timeout=timeout)
    outputs = (done.stdout.encode(), done.stderr.encode())
    return subprocess.CompletedProcess(command, done.returncode, *outputs)
