"""Traces of TensorFlow's profiler."""

import glob
import tempfile
from collections.abc import Callable
from typing import Any

import tensorflow as tf
from tensorflow.tsl.profiler.protobuf import xplane_pb2


def trace_of(run: Callable[[], Any]) -> xplane_pb2.XSpace:
    """Returns the profiler's trace of a function that has run before.

    Args:
        run: Function that waits for what it starts.
    """
    with tempfile.TemporaryDirectory() as folder:
        tf.profiler.experimental.start(folder)
        run()
        tf.profiler.experimental.stop()
        (path,) = glob.glob(f"{folder}/**/*.xplane.pb", recursive=True)
        with open(path, "rb") as file:
            return xplane_pb2.XSpace.FromString(file.read())
