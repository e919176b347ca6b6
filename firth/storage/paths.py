"""Which file system a path is on."""

import os
import re
from typing import Any

from firth.storage.s3 import register_s3


def is_local(path: str | os.PathLike[str]) -> bool:
    """Returns whether a path is on this machine's file systems.

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
