"""`training_flops_per_step` compared with the products in the graph of a training step."""

import math

import pytest

from benchmarks.workers.families import Size
from benchmarks.workers.prediction_work import Case, compiled_step
from firth.recipes.counting import training_flops_per_step

SIZE = Size(2, 64, 2, 32, 2)
PRODUCTS = {"MatMul": "transpose_a", "BatchMatMulV2": "adj_x"}


def flops_of(operation):
    """Two for each number of a product and each number that its rows and columns have."""
    rows_first = not operation.get_attr(PRODUCTS[operation.type])
    inner = operation.inputs[0].shape[-1 if rows_first else -2]
    return 2 * math.prod(operation.outputs[0].shape) * inner


@pytest.mark.parametrize("family", ["bert", pytest.param("llama", marks=pytest.mark.repeated)])
def test_the_count_is_within_a_tenth_of_the_products_in_the_graph(family):
    """A few products more are in the graph: sums over rows, which norms and biases make."""
    case = Case(family, SIZE, 500)
    step, batch = compiled_step(case.recipe, case.features())
    graph = step.get_concrete_function(batch).graph
    made = sum(flops_of(each) for each in graph.get_operations() if each.type in PRODUCTS)
    assert training_flops_per_step(case.recipe) == pytest.approx(made, rel=0.1)
