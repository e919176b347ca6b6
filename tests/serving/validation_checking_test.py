"""A model that is not what it describes is not blessed."""

import copy

import pytest

from firth.serving.validation import description_problems

STRINGS = {"dtype": "string", "shape": ["batch"], "meaning": "texts"}
VECTORS = {"dtype": "float32", "shape": ["batch", "tokens", 2], "meaning": "vectors"}
SEED = {"dtype": "int64", "default": 0, "least": 0, "most": 9, "is_above": False, "meaning": "seed"}
DESCRIPTION = {
    "signatures": {
        "write": {"inputs": {"text": STRINGS}, "outputs": {"vectors": VECTORS}, "parameters": {"seed": SEED}}
    },
    "other_signatures": {"evaluate": {"inputs": {"examples": STRINGS}, "outputs": {}}},
}
ANY, FOUND_VECTORS = {"dtype": "string", "shape": [None]}, {"dtype": "float32", "shape": [None, None, 2]}
SEEDS = {"dtype": "int64", "shape": [None]}
FOUND = {
    "write": {"inputs": {"text": ANY}, "outputs": {"vectors": FOUND_VECTORS}},
    "write_with_parameters": {"inputs": {"text": ANY, "seed": SEEDS}, "outputs": {"vectors": FOUND_VECTORS}},
    "evaluate": {"inputs": {"examples": ANY}, "outputs": {}},
    "serving_default": {"inputs": {"text": ANY}, "outputs": {"vectors": FOUND_VECTORS}},
}


def test_a_model_that_is_as_described_has_no_problem():
    assert list(description_problems(DESCRIPTION, FOUND)) == []


@pytest.mark.parametrize(
    ("place", "value", "problem"),
    [
        (("evaluate",), None, "evaluate: the description has it, and the model lacks this signature"),
        (("more",), {"inputs": {}, "outputs": {}}, "more: the description lacks this signature"),
        (
            ("write", "outputs", "vectors"),
            {"dtype": "float32", "shape": [None, None, 3]},
            "write: vectors is float32 [None, None, 3], and float32 [None, None, 2] in its description",
        ),
        (
            ("write_with_parameters", "inputs", "seed"),
            {"dtype": "int32", "shape": [None]},
            "write_with_parameters: seed is int32 [None], and int64 [None] in its description",
        ),
        (
            ("write", "inputs"),
            {"said": ANY},
            "write: the inputs are said, and text in its description",
        ),
    ],
)
def test_each_difference_is_told(place, value, problem):
    found = copy.deepcopy(FOUND)
    *parents, last = place
    part = found
    for each in parents:
        part = part[each]
    if value is None:
        del part[last]
    else:
        part[last] = value
    assert list(description_problems(DESCRIPTION, found)) == [problem]
