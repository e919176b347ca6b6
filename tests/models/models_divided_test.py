"""Each family says which of its weights several devices may hold a part of each."""

import collections
import math

import pytest

from firth.layers.elements.layer import divided_axes
from firth.models.builders import build_outline
from firth.recipes import load_recipe
from tests.repeating import often

ATTENTION = {"attention/kernel": 1, "attention/bias": 0, "attention/output/kernel": 0}
INNER = {f"feed_forward/{name}": 0 for name in ("inner_kernel", "inner_bias", "outer_kernel")}
TOKENS = {"token_embedding/table": 0}
# By preset, ends of paths and the axis that is divided; one that several layers have is listed once.
DIVIDED = {
    "bert_base": ATTENTION | INNER | TOKENS | {"masked_lm_head/bias": 0},
    "gpt2_small": ATTENTION | INNER | TOKENS,
    "elmo_original": {"heads/table": 0, "heads/bias": 0},
    "qwen_3_0_6b": {
        "attention/kernel": 1,
        "attention/output/kernel": 0,
        "feed_forward/gate_kernel": 0,
        "feed_forward/inner_kernel": 0,
        "feed_forward/outer_kernel": 0,
        **TOKENS,
    },
}


@pytest.mark.parametrize("preset", often(DIVIDED, ["gpt2_small", "elmo_original", "qwen_3_0_6b"]))
def test_of_heads_inner_widths_and_vocabulary(preset):
    model = build_outline(load_recipe(preset))
    found = {path: axis for path, (axis, _) in divided_axes(model).items()}
    ends = collections.Counter()
    for path, axis in found.items():
        (end,) = [end for end in DIVIDED[preset] if path.endswith(end) and DIVIDED[preset][end] == axis]
        ends[end] += 1
    assert ends.keys() == DIVIDED[preset].keys()
    sizes = {weight.path: math.prod(weight.shape) for weight in model.weights}
    assert sum(sizes[path] for path in found) > 0.8 * sum(sizes.values())
