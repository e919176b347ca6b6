"""What holds for all tests."""

import os

import pytest

# Files that take minutes: first, lest one worker ends long after the others.
LONGEST = "tests/pipelines/"
# They import MkDocs and griffe, which are in the environment of `make docs` alone.
collect_ignore = ["scripts/docs/griffe_extension.py", "scripts/docs/hooks.py"]


def pytest_collection_modifyitems(items):
    """Sorts the tests, those of a file in their order."""
    items.sort(key=lambda item: not item.nodeid.startswith(LONGEST))


# `tests.backends.gradients` makes gradients of its own.
@pytest.fixture(autouse=True)
def _without_torch_gradients():
    if os.environ.get("KERAS_BACKEND") != "torch":
        yield
        return
    import torch

    with torch.no_grad():
        yield
