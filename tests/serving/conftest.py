"""Fixtures of the tests of serving."""

import pytest
import tensorflow as tf

from firth.serving.signature import Output, Signature
from firth.serving.signatures import text_signatures
from tests.exported_model import RECIPE


@pytest.fixture
def one_signature(monkeypatch):
    """Exports one signature, which reads the backbone: tracing the others takes most of an export's time."""
    offered = {"embed": text_signatures(RECIPE)["embed"]}
    monkeypatch.setattr("firth.serving.saved_model.text_signatures", lambda *_: offered)


@pytest.fixture
def signature_of_texts(monkeypatch):
    """Exports one signature, which does not read the model: for what is looked at in its weights alone."""
    outputs = {"bytes": Output("bytes of the text", "int32", ("batch",))}
    asked = Signature(lambda served, text: {"bytes": tf.strings.length(text)}, outputs)
    monkeypatch.setattr("firth.serving.saved_model.text_signatures", lambda *_: {"ask": asked})
