import json

import pytest
from tfx.types import standard_artifacts

from firth.pipelines.trained_model import BLESSING, CURRENT, MODEL, LatestComparableModelStrategy

ROWS = {"length": 128}
GOAL = {"objective": {"kind": "masked_lm"}}
TASK = {"task": {"kind": "classification", "labels": ["no", "yes"]}}


@pytest.fixture
def make_model(tmp_path):
    def make(number: int, digest: str = "a", sequences: dict = ROWS, goal: dict = GOAL):
        model = standard_artifacts.Model()
        model.id, model.uri = number, str(tmp_path / str(number))
        folder = tmp_path / str(number) / "Format-Serving" / "assets.extra"
        folder.mkdir(parents=True)
        recipe = {"sequences": sequences, **goal}
        (folder / "firth.json").write_text(json.dumps({"tokenizer_digest": digest, "recipe": recipe}))
        return model

    return make


def blessing(model, blessed: int = 1):
    artifact = standard_artifacts.ModelBlessing()
    artifact.set_int_custom_property("current_model_id", model.id)
    artifact.set_int_custom_property("blessed", blessed)
    return artifact


def resolve(models, blessings, current):
    given = {MODEL: models, BLESSING: blessings, CURRENT: [current]}
    resolved = LatestComparableModelStrategy().resolve_artifacts(None, given)
    assert resolved[CURRENT] == [current]
    return [model.id for model in resolved[MODEL]]


def test_the_latest_blessed_one_of_several(make_model):
    models = [make_model(number) for number in (1, 2, 3, 4)]
    assert resolve(models, [blessing(models[0]), blessing(models[1])], models[3]) == [2]


def test_never_the_current_model_itself(make_model):
    models = [make_model(1), make_model(2)]
    assert resolve(models, [blessing(model) for model in models], models[1]) == [1]


@pytest.mark.parametrize("other", [{"digest": "b"}, {"sequences": {"length": 64}}])
def test_only_models_that_read_the_same_rows(make_model, other):
    old, current = make_model(1, **other), make_model(2)
    assert resolve([old, current], [blessing(old)], current) == []


@pytest.mark.parametrize(("goal", "found"), [(TASK, [1]), (GOAL, []), ({"task": {"kind": "tagging"}}, [])])
def test_models_of_a_task_are_compared_with_those_of_the_same(make_model, goal, found):
    old, current = make_model(1, goal=goal), make_model(2, goal=TASK)
    assert resolve([old, current], [blessing(old)], current) == found


def test_neither_unblessed_nor_deleted_models(make_model, tmp_path):
    unblessed, deleted, current = make_model(1), make_model(2), make_model(3)
    deleted.uri = str(tmp_path / "gone")
    models = [unblessed, deleted, current]
    assert resolve(models, [blessing(unblessed, 0), blessing(deleted)], current) == []
