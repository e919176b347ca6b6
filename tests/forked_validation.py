"""The validation of served models in a process forked off a server that has TensorFlow in memory."""

import contextlib
import subprocess
import types
from collections.abc import Iterator, Sequence
from unittest import mock

import tensorflow as tf

from firth.serving import validation
from tests.fresh_process import run_python

# Most bytes of a text.
_LONGEST = 4096
# Runs a script whose sessions do not optimise graphs, as those of this process do not.
PLAIN = """
import runpy, sys
from tensorflow.core.protobuf import config_pb2

def plain(made=config_pb2.ConfigProto):
    config = made()
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    return config

config_pb2.ConfigProto = plain
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@contextlib.contextmanager
def forked_validation() -> Iterator[None]:
    """Lets `validate_serving` load models in forks, so that none imports TensorFlow anew.

    Requests of megabytes are shorter, since each signature reads them for a second. Graphs are optimised
    there where they are in this process: of a request that is made once, optimising its graph takes most of
    the time.
    `tests/serving/validation_test.py` tests the process that users get.
    """
    quick = types.SimpleNamespace(run=_run, TimeoutExpired=subprocess.TimeoutExpired)
    shorter = {name: [text[:_LONGEST] for text in texts] for name, texts in validation.TEXT_CASES.items()}
    with (
        mock.patch.object(validation, "subprocess", quick),
        mock.patch.object(validation, "TEXT_CASES", shorter),
    ):
        yield


def _run(command: Sequence[str], cwd: str, timeout: float, **_: object) -> subprocess.CompletedProcess[bytes]:
    _, isolated, *script = command
    assert isolated == "-I"
    if tf.config.optimizer.get_experimental_options().get("disable_meta_optimizer"):
        script = ["-c", PLAIN, *script]
    done = run_python(script, cwd=cwd, timeout=timeout)
    outputs = (done.stdout.encode(), done.stderr.encode())
    return subprocess.CompletedProcess(command, done.returncode, *outputs)
