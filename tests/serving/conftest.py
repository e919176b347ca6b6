"""Fixtures of the tests of serving."""

import pytest

from firth.serving.signatures import text_signatures
from tests.exported_model import RECIPE


@pytest.fixture
def one_signature(monkeypatch):
    """Exports one signature, which reads the backbone: tracing the others takes most of an export's time."""
    offered = {"embed": text_signatures(RECIPE)["embed"]}
    monkeypatch.setattr("firth.serving.saved_model.text_signatures", lambda *_: offered)
