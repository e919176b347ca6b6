"""Redirects the output of TFX, TensorFlow and Beam to a file."""

import contextlib
import datetime
import logging
import os
import pathlib
import sys
from collections.abc import Iterator


def new_log_path(run_dir: pathlib.Path) -> pathlib.Path:
    """Returns the path of this run's log, named by the time; its folder exists afterwards."""
    folder = run_dir / "logs"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{datetime.datetime.now():%Y%m%d-%H%M%S}-{os.getpid()}.log"


@contextlib.contextmanager
def output_in(log_path: pathlib.Path) -> Iterator[None]:
    """Sends everything that this process and its children print to a file, for as long as the block runs.

    File descriptors 1 and 2 themselves are redirected, because TensorFlow's C++ code writes to them directly.
    Code that draws on the terminal meanwhile writes to a duplicate made before.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    saved = os.dup(1), os.dup(2)
    with open(log_path, "ab", buffering=0) as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
    try:
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        for descriptor, original in zip((1, 2), saved):
            os.dup2(original, descriptor)
            os.close(original)


@contextlib.contextmanager
def logging_to(log_path: pathlib.Path) -> Iterator[None]:
    """Writes every log record of this process to a file as well."""
    handler = logging.FileHandler(log_path)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname).1s %(name)s: %(message)s"))
    root = logging.getLogger()
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)
        handler.close()
