"""Samples of a language model propose the next piece; models that cannot write a text have none."""

import numpy as np
import pytest
import tensorflow as tf

from firth import features
from firth.models import build_pretraining_model
from firth.recipes.models.blocks import AttentionConfig
from firth.recipes.models.positions import LearnedPositionsConfig
from firth.recipes.models.transformers import CausalTransformerConfig
from firth.recipes.objectives.language_models import CausalLM
from firth.recipes.objectives.masking import ReplacedTokenDetection
from firth.serving.served_model import Served
from firth.tokenizers import WordPieceTokenizer
from firth.training.held_out import sampler
from tests.training.artifacts import LENGTH, VOCABULARY, tiny_recipe

DOCUMENT = [5, 9, 7, 8]


def served(objective, model=None):
    recipe = tiny_recipe()
    recipe = recipe.model_copy(update={"objective": objective, "model": model or recipe.model})
    return Served(build_pretraining_model(recipe), WordPieceTokenizer(VOCABULARY), recipe)


def test_a_language_model_proposes_the_next_piece():
    size = {"layers": 1, "width": 16, "attention": AttentionConfig(heads=2)}
    lm = served(CausalLM(), CausalTransformerConfig(**size, positions=LearnedPositionsConfig(length=LENGTH)))
    (sample,) = sampler(lm, [DOCUMENT, [5]])()
    assert (sample["text"], sample["answer"]) == ("w0 w4 w2", "w3")
    tokens = tf.constant([[lm.tokenizer.cls_id, *DOCUMENT[:-1]]])
    row = {
        features.TOKEN_IDS: tokens,
        features.POSITION_IDS: tf.constant([[0, 1, 2, 3]]),
        features.DOCUMENT_IDS: tf.ones_like(tokens),
    }
    logits = np.array(lm.model.logits(row)["lm"])[0, -1]
    expected = [VOCABULARY[place] for place in np.argsort(-logits) if place >= 5]
    assert sample["proposed"] == expected[:3]


@pytest.mark.parametrize("documents", [[], [DOCUMENT]])
def test_others_have_none(documents):
    assert sampler(served(ReplacedTokenDetection()), documents)() == []
