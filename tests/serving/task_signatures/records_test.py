import contextlib

import numpy as np
import pytest
import tensorflow as tf

from firth.models import build_model
from firth.recipes import load_recipe
from firth.recipes.tasks.classification import Classification, Regression
from firth.recipes.tasks.forms import ELMoForm
from firth.serving.served_model import Served
from firth.serving.task_signatures.classify import classify, regress
from firth.tokenizers import WordTokenizer
from tests.generation.cases import eagerly
from tests.reports.task_pages.records import adapting_recipe

TEXTS = tf.constant(["the cat sat on a mat .", "it keeps", "a word by the company it keeps"])
PAIRS = tf.constant(["a cat sits", "the company", "it"])
FORM = ELMoForm(layers=1, cells=5)


@pytest.mark.parametrize(
    ("ask", "task", "output", "texts"),
    [
        (
            classify,
            Classification(labels=("no", "yes"), pair=True, form=FORM),
            "probabilities",
            (TEXTS, PAIRS),
        ),
        pytest.param(regress, Regression(form=FORM), "value", (TEXTS,), marks=pytest.mark.repeated),
    ],
    ids=["classify_pair", "regress"],
)
def test_elmo_answers_of_texts_whose_length_an_export_does_not_know(ask, task, output, texts):
    elmo = load_recipe(
        "elmo_tiny",
        ["model.layers=1", "model.cells=8", "model.projection_width=4", "sequences.length=16"],
    )
    parts = {"model": elmo.model, "tokenizer": elmo.tokenizer, "sequences": elmo.sequences}
    recipe = adapting_recipe(task=task, **parts)
    tokenizer = WordTokenizer(["<S>", "</S>", "<UNK>", "the", "cat"])
    served = Served(build_model(recipe), tokenizer, recipe)
    exported = tf.function(
        lambda *given: ask(served, *given)[output],
        input_signature=[tf.TensorSpec([None], tf.string)] * len(texts),
        autograph=False,
    )
    # One graph is enough: the other task runs op by op.
    with contextlib.nullcontext() if task.pair else eagerly():
        together = exported(*texts).numpy()
        alone = np.concatenate([exported(*(each[row : row + 1] for each in texts)) for row in range(3)])
    np.testing.assert_allclose(together, alone, rtol=1e-5, atol=1e-6)
    assert len(np.unique(together.round(5), axis=0)) == 3
