"""Vectors over OpenAI's API: numbers and base64, one text and several, and refusals by name."""

import base64

import numpy as np
import pytest

from tests.serving.server.openai.served import ENCODER, WRITER, client_of, http_of, models_of

TEXTS = ["the cat sat on a mat .", "it keeps"]


def test_vectors_are_those_of_the_signature(made_once):
    """OpenAI's client asks for base64 unless a form is named, and decodes it."""
    client = client_of(made_once)
    with models_of(made_once).lease(ENCODER) as version:
        expected = version.client.embed(TEXTS)
    for form in ({}, {"encoding_format": "float"}, {"dimensions": 8}):
        found = client.embeddings.create(model=ENCODER, input=TEXTS, **form)
        np.testing.assert_allclose([each.embedding for each in found.data], expected, rtol=1e-6)
        assert [each.index for each in found.data] == [0, 1]
        assert found.usage.prompt_tokens == found.usage.total_tokens == 9
    one = http_of(made_once).post(
        "/v1/embeddings", json={"model": ENCODER, "input": TEXTS[0], "encoding_format": "base64"}
    )
    numbers = np.frombuffer(base64.b64decode(one.json()["data"][0]["embedding"]), "<f4")
    np.testing.assert_allclose(numbers, expected[0], rtol=1e-6)


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("dimensions", 4),
        ("encoding_format", "int8"),
        ("input", ""),
        ("input", []),
        ("input", [5, 6]),
        ("input", [[5, 6], [5]]),
        ("input", {"text": "a"}),
        ("input_type", "query"),
    ],
)
def test_what_is_refused(made_once, parameter, value):
    found = http_of(made_once).post("/v1/embeddings", json={"model": ENCODER, "input": "a", parameter: value})
    assert (found.status_code, found.json()["error"]["param"]) == (400, parameter)


def test_a_model_without_vectors(made_once):
    found = http_of(made_once).post("/v1/embeddings", json={"model": WRITER, "input": "a"})
    assert found.status_code == 404 and "generate" in found.json()["error"]["message"]
