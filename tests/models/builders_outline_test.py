"""A model whose weights are not made is the model that is built, but for its memory."""

import keras
import numpy as np
import pytest

from firth.models import build_model
from firth.models.builders import build_outline, initial_values
from firth.models.bundle import specs_of, weights_by_path
from firth.recipes import load_recipe
from tests.repeating import often

TINY = ("bert", "albert", "electra", "deberta_v3", "xlnet", "gpt2", "llama", "t5", "bart", "elmo")


@pytest.mark.parametrize("name", often(TINY, ["bart", "electra", "xlnet", "elmo"]))
def test_its_weights_have_the_paths_and_shapes_of_the_model(name):
    recipe = load_recipe(f"{name}_tiny", ["tokenizer.vocabulary_size=300"])
    outline, model = (weights_by_path(build(recipe)) for build in (build_outline, build_model))
    assert list(specs_of(outline).items()) == list(specs_of(model).items())


@pytest.mark.skipif(keras.backend.backend() != "tensorflow", reason="only TensorFlow tells by an error")
def test_no_later_scope_makes_its_weights():
    """Keras makes what a thread has not made when a scope ends, which would take the model's memory."""
    outline = build_outline(load_recipe("bert_tiny", ["tokenizer.vocabulary_size=300"]))
    with keras.StatelessScope():
        pass
    table = outline.backbone.token_embedding.table
    with pytest.raises(AttributeError):
        table.assign(np.zeros(table.shape))


def test_values_follow_from_the_seed_and_differ():
    recipe = load_recipe("bert_tiny")
    made = []
    for seed in (0, 0, 1):
        weights = weights_by_path(build_outline(recipe.model_copy(update={"seed": seed})))
        wanted = {path: each for path, each in weights.items() if path.endswith("output/kernel")}
        made.append(initial_values(wanted))
    one, same, other = made
    assert len(one) == 2 and all(abs(each.std() - 0.02) < 0.005 for each in one.values())
    for path, values in one.items():
        np.testing.assert_array_equal(values, same[path])
        assert not np.array_equal(values, other[path])
    assert not np.array_equal(*one.values())
