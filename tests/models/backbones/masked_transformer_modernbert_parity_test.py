"""Parity with transformers' ModernBERT, through what golden/make_transformers_golden.py wrote down."""

import keras
import numpy as np
import pytest

from firth.interop.hugging_face.rules import Rule, linear, same, transposed
from firth.models import PretrainingModel, example_sums, total_loss
from firth.recipes import MaskedLM, MaskedTransformerConfig
from tests.models import references

GOLDEN = references.read_golden("modernbert")
MODEL = MaskedTransformerConfig(
    layers=4,
    width=16,
    attention={"heads": 4, "dropout": 0.0},
    feed_forward={"width": 24, "gated": True},
    norm={"placement": "pre", "epsilon": references.EPSILON, "first": False},
    positions={"kind": "rotary", "base": 100.0, "local_base": 10.0},
    local_attention={"window": 4, "global_every": 3},
    embeddings={"segments": 0, "norm": True},
    biases=False,
    dropout=0.0,
)


def half(name, ours, part):
    """One of the two kernels that stand in one tensor, the activated one first."""
    return Rule(ours, (name,), lambda tensor: np.split(tensor, 2)[part], lambda weight: (weight,))


def rules():
    yield same("model.embeddings.tok_embeddings.weight", "backbone/token_embedding/table")
    yield same("model.embeddings.norm.weight", "backbone/embeddings/norm/gamma")
    for layer in range(MODEL.layers):
        theirs, ours = f"model.layers.{layer}", f"backbone/encoder/block_{layer}"
        if layer:
            yield same(f"{theirs}.attn_norm.weight", f"{ours}/attention_norm/gamma")
        yield transposed(f"{theirs}.attn.Wqkv.weight", f"{ours}/attention/kernel")
        yield from linear(f"{theirs}.attn.Wo", f"{ours}/attention/output", biases=False)
        yield same(f"{theirs}.mlp_norm.weight", f"{ours}/feed_forward_norm/gamma")
        yield half(f"{theirs}.mlp.Wi.weight", f"{ours}/feed_forward/gate_kernel", 0)
        yield half(f"{theirs}.mlp.Wi.weight", f"{ours}/feed_forward/inner_kernel", 1)
        yield transposed(f"{theirs}.mlp.Wo.weight", f"{ours}/feed_forward/outer_kernel")
    yield same("model.final_norm.weight", "backbone/encoder/final_norm/gamma")
    yield from linear("head.dense", "heads/masked_lm_head/dense", biases=False)
    yield same("head.norm.weight", "heads/masked_lm_head/norm/gamma")
    yield same("decoder.bias", "heads/masked_lm_head/bias")


@pytest.fixture(scope="module")
def model() -> PretrainingModel:
    goal = MaskedLM(max_predictions=12, next_sentence=False)
    made = PretrainingModel(MODEL, goal, references.VOCABULARY, dtype="float32")
    made.build()
    references.copy_by_rules(made, list(rules()), GOLDEN)
    return made


def features() -> dict[str, np.ndarray]:
    ids, mask, labels = (GOLDEN[f"input/{name}"] for name in ("input_ids", "attention_mask", "labels"))
    places = np.argsort(labels == -100, axis=1, kind="stable")
    picked = np.take_along_axis(labels, places, axis=1)
    made = {
        "token_ids": ids,
        "document_ids": mask,
        "position_ids": np.tile(np.arange(ids.shape[1]), (len(ids), 1)),
        "masked_positions": places,
        "masked_labels": np.maximum(picked, 0),
    }
    made = {name: value.astype("int32") for name, value in made.items()}
    return {**made, "masked_weights": (picked != -100).astype("float32")}


def test_hidden_states(model):
    real = GOLDEN["input/attention_mask"] > 0
    # Some tokens of a text are out of sight of others in the local layers.
    assert real.sum(axis=1).max() > 2 * MODEL.local_attention.window // 2 + 1
    found = keras.ops.convert_to_numpy(model.backbone(features()))
    np.testing.assert_allclose(found[real], GOLDEN["hidden/last"][real], rtol=0, atol=1e-4)


def test_packed_texts_have_the_states_that_they_have_alone(model):
    real = GOLDEN["input/attention_mask"] > 0
    row = references.packed({name: value for name, value in features().items() if "masked" not in name})
    found = keras.ops.convert_to_numpy(model.backbone(row))
    np.testing.assert_allclose(found[0], GOLDEN["hidden/last"][real], rtol=0, atol=1e-4)


def test_loss(model):
    sums = example_sums(model(features()))
    loss = float(total_loss(sums, {"mlm": 1.0})["mlm_loss"])
    assert loss == pytest.approx(float(GOLDEN["loss/mlm"]), abs=1e-4)
