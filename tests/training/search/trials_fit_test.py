"""Values of a search that each end of their ranges fits, and that do not fit together."""

from tests.training.search import trials_test
from tests.training.search.trials_test import recipe_with, rows, tune  # noqa: F401

WIDTHS = {"model.width": {"kind": "range", "low": 16, "high": 18}}


def test_a_width_that_the_heads_do_not_divide_is_left_out(tmp_path, rows, monkeypatch):  # noqa: F811
    recipe = recipe_with(WIDTHS, algorithm="grid")
    assert recipe.model.attention.heads == 2
    trained = []

    def train(recipe, **places):
        trained.append(recipe.model.width)
        return float(recipe.model.width)

    monkeypatch.setattr(trials_test.trials, "train", train)
    monkeypatch.setattr(trials_test.trials, "measured", lambda objective, model, *given: model)
    best, results = tune(tmp_path, rows, recipe)
    assert trained == [16, 18] and best == {"model.width": 16}
    assert [each["model.width"] for each in results] == [16, 18]
