"""The temporary files of this process, in a folder that does not outlive it."""

import atexit
import contextlib
import functools
import os
import tempfile
from collections.abc import Iterator

from firth.storage.unfinished import scratch_folder

# Where Python, TensorFlow, Beam and the processes that this one starts look.
_PLACE = "TMPDIR"
# Set for those processes: where it was before.
_LASTING = "FIRTH_LASTING_TMPDIR"
_process = contextlib.ExitStack()


def keep_temporary_files() -> str:
    """Makes a folder the place of all temporary files of this process and its children, and returns it.

    Libraries leave files there: Beam its staged artifacts, AutoGraph the source that it generates. The folder
    is removed when the process ends, or, if it is killed, when the next one makes such a folder.
    """
    folder = _folder()
    os.environ.setdefault(_LASTING, tempfile.gettempdir())
    os.environ[_PLACE] = tempfile.tempdir = folder
    return folder


@contextlib.contextmanager
def keeping_temporary_files() -> Iterator[None]:
    """Does as `keep_temporary_files` for a block, and restores the place of temporary files after it.

    The folder stays until the process ends, because workers that the block started may use it. On a full
    disk, the place stays as it is.
    """
    variables = {name: os.environ.get(name) for name in (_PLACE, _LASTING)}
    before = tempfile.tempdir
    with contextlib.suppress(OSError):
        keep_temporary_files()
    try:
        yield
    finally:
        tempfile.tempdir = before
        for name, value in variables.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@functools.cache
def _folder() -> str:
    folder = _process.enter_context(scratch_folder())
    # Before what libraries register, so that it comes after it.
    atexit.register(remove_temporary_files)
    return folder


def remove_temporary_files() -> None:
    """Removes the folder of `keep_temporary_files`, for a process that ends without Python's own end."""
    _process.close()


def lasting_temporary_folder() -> str:
    """Returns the folder of temporary files that are to outlive this process, such as the log of an error."""
    return os.environ.get(_LASTING) or tempfile.gettempdir()
