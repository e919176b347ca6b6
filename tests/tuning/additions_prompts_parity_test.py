"""Methods that put something before the tokens: hidden states are those of peft with the same weights."""

import json
import pathlib

import numpy as np
import pytest

from firth.models import load_model
from firth.recipes.tuning import prompts
from firth.tuning import METHODS
from tests.interop.peft.adapters import bundle_of
from tests.models import references
from tests.repeating import often

GOLDEN = pathlib.Path(__file__).parent / "golden"
CASES = sorted(path.stem for path in GOLDEN.glob("*.npz"))
LENGTH, HIDDEN = 2, 5


def read(name):
    with np.load(GOLDEN / f"{name}.npz") as arrays:
        found = dict(arrays)
    made_with = json.loads(str(found["made_with"]))
    weights = {key.removeprefix("weight/"): each for key, each in found.items() if key.startswith("weight/")}
    return made_with["base"], made_with["method"], weights, found["hidden/last"]


def layers_of(base, count) -> list[int]:
    """Which of peft's layers the prefix of each layer is.

    Of an encoder-decoder, it takes the prefix of layer 2 i for layer i, and begins anew after the last one.
    """
    return [2 * layer % count if base == "t5" else layer for layer in range(count)]


def assign_prefix(model, weights, base):
    """Keys and values of layer after layer stand next to each other in peft's table."""
    held = model.added.held
    table = weights["embedding.weight"].reshape(LENGTH, len(held), 2, held[0].heads, held[0].head_width)
    for number, prefix in zip(layers_of(base, len(held)), held, strict=True):
        prefix.keys_values.assign(table[:, number].transpose(1, 2, 0, 3))


def assign_projected(model, weights, base):
    encoder = model.added.held[-1]
    encoder.embedding.assign(weights["embedding.weight"])
    encoder.first_kernel.assign(weights["transform.0.weight"].T)
    encoder.first_bias.assign(weights["transform.0.bias"])
    for name, variable in (("weight", encoder.second_kernel), ("bias", encoder.second_bias)):
        of_layers = np.split(weights[f"transform.2.{name}"].T, encoder.layer_count, axis=-1)
        own = [of_layers[layer] for layer in layers_of(base, encoder.layer_count)]
        variable.assign(np.concatenate(own, axis=-1))


def assign_prompt(model, weights, base):
    (prompt,) = model.added.held
    prompt.vectors.assign(weights["embedding.weight"])


def assign_dense(model, weights, *numbers):
    for layer, number in zip(model.added.held[0].encoder_layer.dense, numbers, strict=True):
        layer.kernel.assign(weights[f"mlp_head.{number}.weight"].T)
        layer.bias.assign(weights[f"mlp_head.{number}.bias"])


def assign_mlp(model, weights, base):
    assign_prompt(model, weights, base)
    assign_dense(model, weights, 0, 2, 4)


def assign_lstm(model, weights, base):
    """Torch adds two biases, and its gates stand in the same order."""
    assign_prompt(model, weights, base)
    assign_dense(model, weights, 0, 2)
    for number, both in enumerate(model.added.held[0].encoder_layer.recurrent):
        for end, layer in (("", both.forward_layer), ("_reverse", both.backward_layer)):
            kernel, recurrent, first, second = (
                weights[f"lstm_head.{name}_l{number}{end}"]
                for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
            )
            layer.set_weights([kernel.T, recurrent.T, first + second])


def assign_multitask(model, weights, base):
    assign_prompt(model, weights, base)
    (prompt,) = model.added.held
    prompt.columns.assign(weights["prefix_task_cols"])
    prompt.rows.assign(weights["prefix_task_rows"])


METHODS_OF = {
    "multitask": (prompts.MultitaskPromptTuning(length=LENGTH, tasks=3, rank=2), assign_multitask),
    "prompt": (prompts.PromptTuning(length=LENGTH), assign_prompt),
    "mlp": (prompts.PTuning(length=LENGTH, encoder="mlp", hidden=HIDDEN), assign_mlp),
    "lstm": (prompts.PTuning(length=LENGTH, hidden=HIDDEN), assign_lstm),
    "prefix": (prompts.PTuningV2(length=LENGTH, encoder=False), assign_prefix),
    "projected": (prompts.PrefixTuning(length=LENGTH, hidden=HIDDEN, encoder=False), assign_projected),
}


# Each kind on one base.
FEW = ("t5_prefix", "bert_lstm", "bert_mlp", "gpt2_multitask", "llama_projected", "t5_prompt")


@pytest.mark.parametrize("name", often(CASES, FEW))
def test_hidden_states_are_those_of_peft(name):
    base, kind, weights, expected = read(name)
    method, assign = METHODS_OF[kind]
    model = load_model(bundle_of(base), "float32")
    METHODS[method.kind](model, method, 1)
    assign(model, weights, base)
    features = references.features_of(base)
    features["task_ids"] = np.array([[2], [0], [1]], "int32")
    features["segment_ids"] = np.zeros_like(features["token_ids"])
    documents = features.get("decoder_document_ids", features["document_ids"])
    found, scale = np.array(model.backbone(features)), np.abs(expected).max()
    real = documents > 0
    np.testing.assert_allclose(found[real] / scale, expected[real] / scale, atol=1e-5)
