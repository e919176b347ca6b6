"""The ends of the process that trains on JAX, as the one that started it tells them."""

import pytest

from firth.training import jax_process
from firth.training.jax_process import JaxTrainingError, train_on_jax
from tests.training.artifacts import tiny_recipe


@pytest.mark.parametrize(
    ("ends", "told"),
    [("kill -KILL $$", "ended by SIGKILL, as where memory runs out"), ("exit 3", "ended with status 3")],
)
def test_an_end_without_an_error_is_told(tmp_path, monkeypatch, ends, told):
    (tmp_path / "python").write_text(f"#!/bin/sh\n{ends}\n")
    (tmp_path / "python").chmod(0o755)
    monkeypatch.setattr(jax_process.sys, "executable", str(tmp_path / "python"))
    with pytest.raises(JaxTrainingError, match=told):
        train_on_jax(tiny_recipe())
