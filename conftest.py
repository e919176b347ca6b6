"""Where Keras runs on torch, tests read values without a graph; `tests.backends.gradients` makes its own."""

import os

import pytest


@pytest.fixture(autouse=True)
def _without_torch_gradients():
    if os.environ.get("KERAS_BACKEND") != "torch":
        yield
        return
    import torch

    with torch.no_grad():
        yield
