"""The server in a container that a recipe may ask for."""

import pytest

from firth.recipes import RecipeError, load_recipe


def test_a_tag_is_one_of_an_image():
    said = "infra_validation={platform: kubernetes, tags: [2.16.1, latest]}"
    assert load_recipe("demo", [said]).infra_validation.tags == ("2.16.1", "latest")
    with pytest.raises(RecipeError, match="tags"):
        load_recipe("demo", ["infra_validation={tags: ['tensorflow/serving:latest']}"])
