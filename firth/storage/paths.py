"""The file system that a path is on: local, or of a scheme such as `gs://`."""

import ctypes
import functools
import os
import re
from typing import Any


def is_local(path: str | os.PathLike[str]) -> bool:
    """Returns true if a path is on this machine's file systems.

    Args:
        path: Path on this machine, or one with a scheme such as `gs://`.

    Raises:
        ValueError: for a path with a scheme that `pathlib` has taken a slash from.

    Example:

    >>> is_local("runs/a"), is_local("gs://bucket/runs/a")
    (True, False)
    """
    path = os.fspath(path)
    if re.match(r"[a-z][a-z0-9+.-]+:/(?!/)", path):
        raise ValueError(f"{path}: pathlib keeps no scheme; give a path with a scheme as a string")
    return "://" not in path


def gfile_of(path: str | os.PathLike[str]) -> Any:
    """Returns `tf.io.gfile`, which can read the path's scheme."""
    import tensorflow as tf

    if os.fspath(path).startswith("s3://"):
        try:
            register_s3()
        except ImportError as error:
            raise ImportError(
                f"{path}: s3:// needs Python 3.10 and tensorflow-io: pip install 'firth[s3]'"
            ) from error
    return tf.io.gfile


@functools.cache
def register_s3() -> None:
    """Lets TensorFlow read `s3://` in this process, which then ends with its own status.

    Raises:
        ImportError: if there is no tensorflow-io.
    """
    import tensorflow_io  # noqa: F401

    exit_before_destructors()


def exit_before_destructors() -> None:
    """Lets this process end before the destructors of libraries that are loaded by now.

    That of tensorflow-io's file system calls a method that is gone, and aborts the process after all its
    work, so that an orchestrator would count the task as failed. Python ends as ever, with its `atexit`
    functions and the status that it gives.
    """
    libc = ctypes.CDLL(None)
    # It is called with the status, before what was registered earlier. Systems without it have no such call.
    if hasattr(libc, "on_exit"):
        libc.on_exit(libc._exit, None)
