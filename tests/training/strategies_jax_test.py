"""A recipe that trains on JAX says what it lacks before anything is trained."""

import importlib.util

import pytest

from firth.training import DeviceError, prepare_devices
from tests.training.artifacts import tiny_recipe


def test_jax_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(DeviceError, match=r"JAX.*pip install 'firth\[jax\]'"):
        prepare_devices(tiny_recipe(backend="jax").training)
