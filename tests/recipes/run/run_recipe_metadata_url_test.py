import pytest

from firth.pipelines.finetune import _NOT_TRAINED_BY
from firth.pipelines.pretrain import _training_recipe
from firth.recipes import RecipeError, load_recipe

URL = "postgresql://me@localhost:5432/runs"


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("shared.sqlite", "metadata: is not a URL; write it as postgresql://user@host:port/database"),
        ("mysql://me:secret@localhost/runs", "metadata: has a password, which would stand in"),
        ("mysql://me:a@[::1/runs", "metadata: cannot be read as a URL"),
    ],
)
def test_what_is_no_url_or_has_a_password_is_refused(url, problem):
    with pytest.raises(RecipeError) as error:
        load_recipe("demo", [f"metadata={url}"])
    assert problem in str(error.value)


def test_where_metadata_are_trains_no_model_again():
    there, here = load_recipe("demo", [f"metadata={URL}"]), load_recipe("demo")
    assert there.metadata == URL and here.metadata is None
    assert _training_recipe(there) == _training_recipe(here)
    assert _NOT_TRAINED_BY["metadata"] is None
