"""DeBERTa's enhanced mask decoder against plain NumPy, one pair of tokens at a time."""

import numpy as np
import pytest

from firth.layers import MaskedTransformer, StackConfig
from firth.layers.positions.disentangled_positions import rows_by_distance
from tests.repeating import often

WIDTH, HEADS, LENGTH = 8, 2, 5
POSITIONS = {"kind": "disentangled", "max_distance": 9, "buckets": 4}
DOCUMENTS = np.array([1, 1, 1, 2, 2])


def norm(states, gamma, beta):
    mean, variance = states.mean(-1, keepdims=True), states.var(-1, keepdims=True)
    return (states - mean) / np.sqrt(variance + 1e-12) * gamma + beta


def attend(queries, content, relative, kernel, bias, output, output_bias):
    """Queries of some states read others; distances are projected as both are."""
    query = np.split(queries @ kernel + bias, 3, axis=-1)[0]
    _, key, value = np.split(content @ kernel + bias, 3, axis=-1)
    position_query, position_key, _ = np.split(relative @ kernel + bias, 3, axis=-1)
    context = np.zeros_like(query)
    for head in np.split(np.arange(WIDTH), HEADS):
        for i in range(LENGTH):
            seen = np.nonzero(DOCUMENTS[i] == DOCUMENTS)[0]
            scores = np.array([
                query[i, head] @ key[j, head]
                + query[i, head] @ position_key[LENGTH - (i - j), head]
                + key[j, head] @ position_query[LENGTH - (i - j), head]
                for j in seen
            ]) / np.sqrt(3 * WIDTH // HEADS)  # fmt: skip
            weights = np.exp(scores - scores.max())
            context[i, head] = weights / weights.sum() @ value[seen][:, head]
    return context @ output + output_bias


def apply(block, queries, content, relative):
    """A post-norm block that renews `queries` and reads `content`."""
    attended = attend(queries, content, relative, *block[:4])
    states = norm(queries + attended, *block[4:6])
    inner_kernel, inner_bias, outer_kernel, outer_bias = block[6:10]
    inner = np.maximum(states @ inner_kernel.T + inner_bias, 0)
    return norm(states + inner @ outer_kernel + outer_bias, *block[10:])


@pytest.mark.parametrize("passes", often([1, 2, 3], [1, 2]))
def test_equals_the_reference_code_written_out(passes):
    encoder = MaskedTransformer(
        StackConfig(
            layers=3,
            width=WIDTH,
            attention={"heads": HEADS},
            feed_forward={"width": 12, "activation": "relu"},
            positions=POSITIONS,
        ),
        seed=1,
    )
    encoder.build((None, None, WIDTH))
    generator = np.random.default_rng(0)
    encoder.set_weights([generator.normal(size=value.shape) * 0.5 for value in encoder.get_weights()])
    named = {weight.path.split("/", 1)[1]: np.array(weight) for weight in encoder.weights}
    parts = [
        *(f"attention/{name}" for name in ("kernel", "bias", "output/kernel", "output/bias")),
        *(f"attention_norm/{name}" for name in ("gamma", "beta")),
        *(f"feed_forward/{name}" for name in ("inner_kernel", "inner_bias", "outer_kernel", "outer_bias")),
        *(f"feed_forward_norm/{name}" for name in ("gamma", "beta")),
    ]
    blocks = [[named[f"block_{index}/{part}"] for part in parts] for index in range(3)]
    table = norm(named["positions/table"], named["positions/norm/gamma"], named["positions/norm/beta"])
    distances = np.arange(LENGTH, -LENGTH - 1, -1)
    relative = table[rows_by_distance(9, 4)[distances + 9]]

    hidden, absolute = generator.normal(size=(2, LENGTH, WIDTH))
    states = hidden
    for block in blocks[:-1]:
        states = apply(block, states, states, relative)
    queries = states + absolute
    for _ in range(passes):
        queries = apply(blocks[-1], queries, states, relative)
    found = encoder(hidden[None], DOCUMENTS[None], absolute=absolute[None], passes=passes)
    np.testing.assert_allclose(np.array(found)[0], queries, atol=1e-4)


def test_other_positions_are_refused():
    encoder = MaskedTransformer(StackConfig(layers=2, width=WIDTH, attention={"heads": HEADS}))
    hidden = np.ones((1, LENGTH, WIDTH), "float32")
    with pytest.raises(ValueError, match="disentangled"):
        encoder(hidden, DOCUMENTS[None], absolute=hidden)
