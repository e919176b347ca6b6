"""Adapters of all other methods in one SavedModel, for another task."""

import numpy as np
import pytest
import tensorflow as tf

from firth.recipes.tasks.classification import Regression
from firth.recipes.tuning.adding import IA3, LoHa, Pfeiffer
from firth.recipes.tuning.prompts import PrefixTuning, PromptTuning, PTuning, PTuningV2
from firth.serving.adapter_export import export_adapters
from firth.serving.served_model import Served
from firth.serving.signatures import text_signatures
from firth.serving.slots.loaded import Loaded
from firth.tokenizers import WordPieceTokenizer
from tests.training.artifacts import VOCABULARY
from tests.tuning.drawn import drawn
from tests.tuning.runs import adapting

TOKENIZER = WordPieceTokenizer(VOCABULARY)
TEXTS = [b"w1 w2 w3", b"w7", b"w4 w5", b"w9 w9", b"w1", b"w2 w8", b"w3"]
METHODS = {
    "ia3": IA3(),
    "loha": LoHa(rank=2),
    "pfeiffer": Pfeiffer(reduction_factor=8),
    "prefix": PrefixTuning(length=2, hidden=8),
    "deep": PTuningV2(length=2),
    "prompt": PromptTuning(length=3),
    "encoded": PTuning(length=2, hidden=8),
}


def adapters_of(methods, folder, task):
    """Adapters with drawn weights by name, on one base."""
    base = adapting("bert", folder).model_copy(update={"task": task})
    recipes = {name: base.model_copy(update={"method": method}) for name, method in methods.items()}
    return {name: (drawn(recipe, seed), recipe) for seed, (name, recipe) in enumerate(recipes.items())}


@pytest.mark.repeated
def test_each_method_answers_as_its_adapter_alone(tmp_path):
    adapters = adapters_of(METHODS, tmp_path, Regression(form={"kind": "bert"}))
    export_adapters(adapters, TOKENIZER, str(tmp_path / "served"))
    asked = next(iter(adapters.values()))[1].task.signature
    answers = Loaded(str(tmp_path / "served")).run(
        asked, {"text": TEXTS, "adapter": [name.encode() for name in METHODS]}
    )
    for row, (text, (name, (model, recipe))) in enumerate(zip(TEXTS, adapters.items(), strict=True)):
        alone = Served(model, TOKENIZER, recipe)
        expected = text_signatures(recipe)[asked].function(alone, tf.constant([text]))
        for key, value in expected.items():
            if value.dtype.is_floating:
                np.testing.assert_allclose(answers[key][row], value.numpy()[0], atol=1e-5, err_msg=name)
