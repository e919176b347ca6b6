"""What `memory_bytes` predicts, next to the tensors that a training step really holds."""

import pytest

from benchmarks.workers.allocations import can_trace, peak_of
from benchmarks.workers.families import Size
from benchmarks.workers.prediction_work import Case, make_step
from firth.recipes.counting import memory_bytes

# Rows that weigh more than weights, or the other way round.
LONG, SHORT = Size(2, 32, 2, 128, 4), Size(2, 128, 2, 16, 2)
HALF = Size(2, 32, 2, 128, 4, "mixed_bfloat16")
AGAIN = {"rematerialisation": "blocks"}
BFLOAT16 = {"optimizer": {"kind": "adamw", "moments": "bfloat16"}}
CASES = [
    Case("bert", LONG, 300),
    Case("bert", LONG, 3000, AGAIN),
    Case("bert", LONG, 300, {"gradient_accumulation_steps": 2}),
    Case("gpt2", HALF, 300, AGAIN),
    Case("llama", LONG, 3000),
    Case("t5", SHORT, 3000, BFLOAT16),
    Case("deberta_v3", LONG, 300),
    Case("xlnet", LONG, 300),
]


@pytest.mark.repeated
@pytest.mark.skipif(not can_trace(), reason="this TensorFlow does not tell what its allocator hands out")
@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_prediction_is_within_a_fifth_of_the_tensors_at_the_peak(case):
    recipe = case.recipe
    step = make_step(recipe, case.features())
    step()
    memory = memory_bytes(recipe)
    measured = memory["weights"] + memory["moments"] + peak_of(step).held
    assert memory["total"] - memory["checkpoint"] == pytest.approx(measured, rel=0.2)
