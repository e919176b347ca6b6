"""An adapter that is merged into its base and stored in int8 answers as it does in float32."""

import functools

import numpy as np
import tensorflow as tf

from firth.recipes.tuning.adding import LoRA
from firth.serving.served_model import Served
from firth.serving.signatures import text_signatures
from firth.serving.stored_weights.weights import model_weights
from firth.tokenizers import WordPieceTokenizer
from firth.tuning import merge
from tests.training.artifacts import VOCABULARY
from tests.tuning.drawn import drawn
from tests.tuning.runs import adapting

TEXTS = [b"w1 w2 w3", b"w7", b"w4 w5", b"w9 w9", b"w1 w6"]


def test_the_difference_is_that_of_the_type_alone(tmp_path):
    recipe = adapting("bert", tmp_path, LoRA(rank=2))
    tokenizer, model = WordPieceTokenizer(VOCABULARY), drawn(recipe)
    signature = text_signatures(recipe)["classify"].function
    expected = signature(Served(model, tokenizer, recipe), tf.constant(TEXTS))["probabilities"].numpy()
    merge(model)
    stored = model_weights(model, "int8").bind(functools.partial(signature, Served(model, tokenizer, recipe)))
    found = stored(tf.constant(TEXTS))["probabilities"].numpy()
    np.testing.assert_allclose(found, expected, atol=0.03)
    assert np.abs(found - expected).max() > 1e-6
    # What was added is far more than what is rounded.
    plain = drawn(recipe.model_copy(update={"method": LoRA(rank=2, alpha=1e-9)}))
    base = signature(Served(plain, tokenizer, recipe), tf.constant(TEXTS))["probabilities"].numpy()
    assert np.abs(base - expected).max() > 0.06
