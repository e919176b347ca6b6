"""Bundles that go to other libraries."""

import pytest

from firth.interop.bundles import open_bundle
from firth.interop.errors import InteropError
from firth.models import build_model, save_model
from firth.tokenizers import save_tokenizer
from tests.exported_model import RECIPE, make_served
from tests.tasks.texts_test import TASKS_AND_LABELS, recipe_of


def test_the_model_of_a_task_is_refused(tmp_path):
    recipe = recipe_of(TASKS_AND_LABELS["one text"][0])
    save_tokenizer(make_served(RECIPE).tokenizer, tmp_path / "tokenizer")
    save_model(build_model(recipe), recipe, tmp_path / "tokenizer", tmp_path / "bundle")
    with pytest.raises(InteropError, match="is the model of a task"):
        open_bundle(tmp_path / "bundle")
