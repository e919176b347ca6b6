import numpy as np
import pytest

from firth.serving.embeddings import embed, embed_tokens
from firth.serving.fill_mask import fill_mask
from tests.exported_model import RECIPE, exported_model, make_served
from tests.serving.served_texts import run


@pytest.mark.parametrize("function", [fill_mask, embed, embed_tokens])
def test_an_empty_batch_has_an_empty_answer(function):
    outputs = run(function, exported_model().served, [])
    assert {len(values) for values in outputs.values()} == {0}


def test_a_bfloat16_model_answers_in_float32():
    training = RECIPE.training.model_copy(update={"precision": "mixed_bfloat16"})
    served = make_served(RECIPE.model_copy(update={"training": training}))
    exact = exported_model().served
    assert served.model.backbone.compute_dtype == "bfloat16"
    for function, name in [(fill_mask, "scores"), (embed, "embedding"), (embed_tokens, "embeddings")]:
        found, expected = (run(function, each, ["the [MASK] sat"])[name] for each in (served, exact))
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, expected, atol=5e-2)
        assert (found != expected).any()
