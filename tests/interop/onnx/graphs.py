"""Exports that leave out what takes long in tf2onnx, and is shown by the test of one model."""

import contextlib
from collections.abc import Iterator
from unittest import mock

import pytest


@contextlib.contextmanager
def without_copies() -> Iterator[None]:
    """Keeps tf2onnx from copying a graph before each of its steps: a step that fails then fails the test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TF2ONNX_CATCH_ERRORS", "false")
        yield


@contextlib.contextmanager
def as_converted() -> Iterator[None]:
    """Keeps tf2onnx from going over its graphs, which takes a fifth of an export, as BERT's test has it."""
    with without_copies(), mock.patch("tf2onnx.optimizer.optimize_graph", lambda graph, *_, **__: graph):
        yield
