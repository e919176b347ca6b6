"""The temporary files of this process, in a folder that does not outlive it."""

import atexit
import contextlib
import functools
import os
import tempfile

from firth.storage.unfinished import scratch_folder

# Where Python, TensorFlow, Beam and the processes that this one starts look.
_PLACE = "TMPDIR"
# Set for those processes: where it was before.
_LASTING = "FIRTH_LASTING_TMPDIR"
_process = contextlib.ExitStack()


@functools.cache
def keep_temporary_files() -> str:
    """Makes a folder the place of all temporary files of this process and its children, and returns it.

    Libraries leave files there: Beam its staged artifacts, AutoGraph the source that it generates. The folder
    is removed when the process ends, or, if it is killed, when the next one makes such a folder.
    """
    os.environ.setdefault(_LASTING, tempfile.gettempdir())
    folder = _process.enter_context(scratch_folder())
    # Before what libraries register, so that it comes after it.
    atexit.register(remove_temporary_files)
    os.environ[_PLACE] = tempfile.tempdir = folder
    return folder


def remove_temporary_files() -> None:
    """Removes the folder of `keep_temporary_files`, for a process that ends without Python's own end."""
    _process.close()


def lasting_temporary_folder() -> str:
    """Returns the folder of temporary files that are to outlive this process, such as the log of an error."""
    return os.environ.get(_LASTING) or tempfile.gettempdir()
