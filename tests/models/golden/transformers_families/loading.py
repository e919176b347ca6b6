"""The models of golden files as transformers has them, for the golden files of what is added to them."""

import json
import pathlib
from typing import Any

import numpy as np
import torch

BASES = pathlib.Path(__file__).parents[1]
# What a state has next to what a golden file holds once.
TIED = ("position_ids", "attn.bias", "lm_head.weight", "embed_tokens.weight")


def load(name: str, model: type, config: type, prefix: str) -> tuple[Any, dict[str, np.ndarray]]:
    """Returns the model of a golden file whose weights have a prefix there, and the file."""
    with np.load(BASES / f"{name}.npz") as arrays:
        golden = dict(arrays)
    made = model(config(**json.loads(str(golden["made_with"]))["config"])).eval()
    weights = {key.removeprefix("weight/").removeprefix(prefix): each for key, each in golden.items()}
    own = made.state_dict()
    found = {key: torch.tensor(weights[key]) for key in own if key in weights}
    missing = [key for key in own if key not in found and not key.endswith(TIED)]
    assert not missing, missing
    made.load_state_dict(found, strict=False)
    made.tie_weights()
    return made, golden


def inputs_of(golden: dict[str, np.ndarray], *names: str) -> dict[str, torch.Tensor]:
    return {key: torch.tensor(golden[f"input/{key}"]) for key in names if f"input/{key}" in golden}


def last_states(model: torch.nn.Module, golden: dict[str, np.ndarray]) -> np.ndarray:
    with torch.no_grad():
        found = model(**inputs_of(golden, "input_ids", "attention_mask", "token_type_ids"))
    return found.last_hidden_state.numpy()
