"""Parity with Hugging Face's BertForPreTraining, through what golden/make_bert_golden.py wrote down."""

import json
import pathlib

import keras
import numpy as np
import pytest

from firth.models import build_pretraining_model, example_sums, total_loss
from firth.recipes.model import Bert
from firth.recipes.objective import MaskedLM
from firth.recipes.tokenizer import Sequences, WordPieceTokenizer
from tests.models import weights
from tests.models.table import tiny_recipe

GOLDEN = pathlib.Path(__file__).parent / "golden" / "bert_hugging_face.npz"


@pytest.fixture(scope="module")
def golden() -> dict[str, np.ndarray]:
    with np.load(GOLDEN) as arrays:
        return dict(arrays)


def convert(golden, layers: int) -> dict[str, np.ndarray]:
    """Returns the golden weights by the paths that ours have."""
    state = {name.removeprefix("weight/"): value for name, value in golden.items()}

    def linear(name):
        return state[f"{name}.weight"].T, state[f"{name}.bias"]

    def layer_norm(path, name):
        return weights.norm(path, state[f"{name}.weight"], state[f"{name}.bias"])

    ours = {
        "backbone/embeddings/token/table": state["bert.embeddings.word_embeddings.weight"],
        "backbone/embeddings/segment/table": state["bert.embeddings.token_type_embeddings.weight"],
        "backbone/embeddings/position/table": state["bert.embeddings.position_embeddings.weight"],
        **layer_norm("backbone/embeddings/norm", "bert.embeddings.LayerNorm"),
        **weights.dense("masked_lm_head/dense", *linear("cls.predictions.transform.dense")),
        **layer_norm("masked_lm_head/norm", "cls.predictions.transform.LayerNorm"),
        "masked_lm_head/bias": state["cls.predictions.bias"],
        **weights.dense("pooler/dense", *linear("bert.pooler.dense")),
        **weights.dense("next_sentence_head/dense", *linear("cls.seq_relationship")),
    }
    for index in range(layers):
        here, there = f"backbone/encoder/block_{index}", f"bert.encoder.layer.{index}"
        parts = [linear(f"{there}.attention.self.{part}") for part in ("query", "key", "value")]
        ours |= weights.attention(f"{here}/attention", *parts, linear(f"{there}.attention.output.dense"))
        ours |= layer_norm(f"{here}/attention_norm", f"{there}.attention.output.LayerNorm")
        inner, outer = linear(f"{there}.intermediate.dense"), linear(f"{there}.output.dense")
        ours |= weights.feed_forward(f"{here}/feed_forward", inner, outer)
        ours |= layer_norm(f"{here}/feed_forward_norm", f"{there}.output.LayerNorm")
    return ours


def convert_inputs(golden) -> dict[str, np.ndarray]:
    """Returns the golden inputs as features: every predicted position of a row, padded with weight 0."""
    labels, mask = golden["input/labels"], golden["input/attention_mask"]
    batch, length = labels.shape
    positions = np.argsort(labels == -100, axis=1, kind="stable")
    picked = np.take_along_axis(labels, positions, axis=1)
    features = {
        "token_ids": golden["input/input_ids"],
        "segment_ids": golden["input/token_type_ids"],
        "position_ids": np.tile(np.arange(length), (batch, 1)),
        "document_ids": mask,
        "masked_positions": positions,
        "masked_labels": np.maximum(picked, 0),
        "masked_weights": (picked != -100).astype("float32"),
        "pooled_positions": np.zeros((batch, 1)),
        "next_sentence_labels": golden["input/next_sentence_label"][:, None],
        "next_sentence_weights": np.ones((batch, 1), "float32"),
    }
    return {k: v if v.dtype == "float32" else v.astype("int32") for k, v in features.items()}


@pytest.fixture(scope="module")
def model(golden):
    shape = json.loads(str(golden["made_with"]))["config"]
    bert = Bert(
        layers=shape["num_hidden_layers"],
        width=shape["hidden_size"],
        heads=shape["num_attention_heads"],
        feed_forward_width=shape["intermediate_size"],
        positions=shape["max_position_embeddings"],
        segments=shape["type_vocab_size"],
    )
    recipe = tiny_recipe(
        bert,
        tokenizer=WordPieceTokenizer(vocabulary_size=shape["vocab_size"]),
        sequences=Sequences(length=12, max_documents=1),
        objective=MaskedLM(max_predictions=12),
    )
    model = build_pretraining_model(recipe)
    weights.copy_weights(model, convert(golden, bert.layers))
    return model


def test_hidden_states(model, golden):
    found = keras.ops.convert_to_numpy(model.backbone(convert_inputs(golden)))
    real = golden["input/attention_mask"] == 1
    np.testing.assert_allclose(found[real], golden["hidden_states"][real], atol=1e-4)


def test_logits(model, golden):
    features = convert_inputs(golden)
    outputs = {name: keras.ops.convert_to_numpy(value) for name, value in model(features).items()}
    picked = features["masked_weights"] == 1
    expected = np.take_along_axis(
        golden["prediction_logits"], features["masked_positions"][..., None], axis=1
    )
    np.testing.assert_allclose(outputs["masked_logits"][picked], expected[picked], atol=1e-4)
    np.testing.assert_allclose(
        outputs["next_sentence_logits"][:, 0], golden["next_sentence_logits"], atol=1e-4
    )


def test_losses(model, golden):
    features = convert_inputs(golden)
    losses = total_loss(example_sums(features, model(features)))
    assert abs(float(losses["mlm_loss"]) - golden["masked_lm_loss"]) < 1e-4
    assert abs(float(losses["nsp_loss"]) - golden["next_sentence_loss"]) < 1e-4


def test_the_golden_file_is_small_and_says_what_made_it(golden):
    assert GOLDEN.stat().st_size < 200_000
    assert {"python", "torch", "transformers", "command"} <= set(json.loads(str(golden["made_with"])))
