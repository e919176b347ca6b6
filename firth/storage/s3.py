"""The scheme `s3://`, which tensorflow-io gives TensorFlow."""

import ctypes
import functools


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
