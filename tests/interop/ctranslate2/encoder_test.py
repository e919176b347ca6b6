"""CTranslate2's hidden states make the vectors of texts that the Keras model's make."""

import dataclasses

import numpy as np
import pytest

from firth.interop.errors import InteropError
from firth.serving import load_served
from firth.serving.embeddings import embed, embed_tokens
from tests.interop.ctranslate2 import exporting_test as models
from tests.repeating import often
from tests.training.eagerly import eagerly

pytest.importorskip("ctranslate2")

TEXTS = ["a b c", "j i h g f e", "", "e"]


@pytest.fixture(autouse=True, scope="module")
def _without_graphs():
    """Short texts of small models take less time op by op than their graphs take to make."""
    with eagerly():
        yield


def pooled(served, pooling):
    export = served.recipe.export.model_copy(update={"pooling": pooling})
    return dataclasses.replace(served, recipe=served.recipe.model_copy(update={"export": export}))


@pytest.mark.parametrize("name", often(models.ENCODERS, ["bert"]))
def test_vectors_are_those_of_the_keras_model(name):
    keras = load_served(f"{models.exported(name)[1].name}/bundle")
    engine = load_served(models.place(name), engine="ctranslate2")
    poolings = ["mean", "mean_with_special", "first", *(["cls"] if name == "bert" else [])]
    for pooling in poolings:
        found, expected = (embed(pooled(each, pooling), TEXTS)["embedding"] for each in (engine, keras))
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4)
    found, expected = (embed_tokens(each, TEXTS) for each in (engine, keras))
    np.testing.assert_allclose(found["embeddings"], expected["embeddings"], rtol=0, atol=1e-4)


@pytest.mark.parametrize("name", often(models.ENCODERS, ["bert"]))
def test_rounded_weights(name, tmp_path):
    bundle = f"{models.exported(name)[1].name}/bundle"
    small = load_served(bundle, engine="ctranslate2", quantization="int8", cache=tmp_path)
    found, expected = (embed(each, TEXTS)["embedding"].numpy() for each in (small, load_served(bundle)))
    assert 1e-5 < np.abs(found - expected).max() < 0.3
    cosine = (
        np.sum(found * expected, 1)[[0, 1, 3]]
        / np.prod(np.linalg.norm([found, expected], axis=2), 0)[[0, 1, 3]]
    )
    assert cosine.min() > 0.99


def test_what_writes_has_no_hidden_states():
    with pytest.raises(InteropError, match="is not an encoder alone"):
        load_served(models.place("t5"), engine="ctranslate2")
    with pytest.raises(ValueError, match="quantization: the engine keras has dtype in its place"):
        load_served(models.place("bert"), quantization="int8")
