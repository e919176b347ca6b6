"""The exit status of a process that has read `s3://`."""

import subprocess
import sys

import pytest

ABORTING = """
import atexit, ctypes, sys
from firth.storage.paths import exit_before_destructors
libc = ctypes.CDLL(None)
libc.__cxa_atexit(libc.abort, None, None)
exit_before_destructors()
atexit.register(print, "the end")
sys.exit({})
"""


@pytest.mark.parametrize("status", [0, 3])
def test_a_process_whose_libraries_abort_ends_with_its_own_status(status):
    command = [sys.executable, "-c", ABORTING.format(status)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (status, "the end\n")
