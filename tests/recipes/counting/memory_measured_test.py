"""`memory_bytes` compared with the tensors that a training step really holds."""

import pytest

from benchmarks.workers.allocations import can_trace
from firth.recipes.counting import memory_bytes
from tests.recipes.counting.held_tensors import CASES, measured

pytestmark = [
    pytest.mark.repeated,
    pytest.mark.skipif(not can_trace(), reason="this TensorFlow does not tell what its allocator hands out"),
]


@pytest.fixture(scope="module")
def held():
    return measured()


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_prediction_is_within_a_fifth_of_the_tensors_at_the_peak(case, held):
    memory = memory_bytes(case.recipe)
    found = memory["weights"] + memory["moments"] + held[str(case)]
    assert memory["total"] - memory["checkpoint"] == pytest.approx(found, rel=0.2)
