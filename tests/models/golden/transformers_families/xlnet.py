"""XLNet, whose two streams follow a random order."""

import numpy as np
import transformers

from transformers_families.family import (
    EPSILON,
    LENGTHS,
    VOCABULARY,
    Arrays,
    Family,
    Tensors,
    last_states,
    one_text,
)

XLNET = {
    "vocab_size": VOCABULARY,
    "d_model": 16,
    "n_layer": 2,
    "n_head": 4,
    "d_inner": 24,
    "ff_activation": "gelu",
    "layer_norm_eps": EPSILON,
    "dropout": 0.0,
}


def permutation_inputs(generator: np.random.Generator) -> Arrays:
    """Context has the order 0 and sees itself; three tokens of each text follow in a random order."""
    inputs = one_text(generator, pad=0)
    shape = inputs["input_ids"].shape
    order, positions = np.zeros(shape, "int64"), np.zeros((len(LENGTHS), 3), "int64")
    for row, length in enumerate(LENGTHS):
        places = generator.permutation(length)[:3]
        positions[row], order[row, places] = np.sort(places), np.arange(3) + 1
    hides_itself = np.eye(shape[1], dtype=bool) & (order > 0)[:, :, None]
    return {
        **inputs,
        "token_type_ids": (np.arange(shape[1]) >= np.array([[5], [3], [4]])) * inputs["attention_mask"],
        "attention_order": order,
        "positions": positions,
        "perm_mask": ((order[:, None, :] > order[:, :, None]) | hides_itself).astype("float32"),
        "target_mapping": np.eye(shape[1], dtype="float32")[positions],
        "labels": generator.integers(2, VOCABULARY, positions.shape),
    }


def run_permutation(model: transformers.XLNetLMHeadModel, inputs: Tensors) -> Tensors:
    """`hidden/last` without an order; with it `hidden/content` and `hidden/query`, of both streams."""
    ours = ("attention_order", "positions")
    given = {name: value for name, value in inputs.items() if name not in ours}
    answers = model(**given, output_hidden_states=True, use_mems=False)
    content, query = answers.hidden_states[-2:]
    return {
        **last_states(model, inputs),
        "hidden/content": content,
        "hidden/query": query,
        "loss/lm": answers.loss,
    }


FAMILIES = {
    "xlnet": Family(
        transformers.XLNetLMHeadModel, transformers.XLNetConfig, XLNET, permutation_inputs, run_permutation
    ),
}
