"""Heads of classes answer with the shares that their task states before anything is learned."""

import keras
import numpy as np
import pytest

from firth.models import TaskModel
from firth.recipes.tasks.classification import Classification, bias_of_shares
from firth.recipes.tasks.forms import ELMoForm
from firth.recipes.tasks.tagging import Tagging
from tests.models.table import ENCODERS, OTHERS

SHARES = (0.7, 0.2, 0.1)
TEXTS = {"labels": ("a", "b", "c"), "class_shares": SHARES}
TAGS = {"labels": ("O", "B-A", "I-A"), "class_shares": SHARES}
CASES = {
    "texts": (ENCODERS["bert"], Classification(**TEXTS)),
    "tags": (ENCODERS["bert"], Tagging(**TAGS)),
    "texts on mixed layers": (OTHERS["elmo"], Classification(**TEXTS, form=ELMoForm())),
    "tags on mixed layers": (OTHERS["elmo"], Tagging(**TAGS, form=ELMoForm())),
}


@pytest.mark.parametrize("name", CASES)
def test_a_head_starts_from_the_shares(name):
    config, task = CASES[name]
    model = TaskModel(model=config, task=task, vocabulary_size=20, seed=3, dtype="float32")
    model.build()
    bias = keras.ops.convert_to_numpy(keras.ops.softmax(model.heads.dense.bias))
    np.testing.assert_allclose(bias, SHARES, rtol=1e-5)


@pytest.mark.parametrize("kind", [Classification, Tagging])
def test_shares_are_of_the_classes(kind):
    assert bias_of_shares(()) == kind(labels=("O", "B-A")).head_bias == 0.0
    with pytest.raises(ValueError, match=r"class_shares: .*2.* 3 labels"):
        kind(labels=("O", "B-A", "I-A"), class_shares=(0.5, 0.5))
    with pytest.raises(ValueError, match=r"class_shares: .*0\.8, not 1"):
        kind(labels=("O", "B-A"), class_shares=(0.5, 0.3))
