"""Writes what transformers generates greedily and by beams, and what its processors make of literal logits.

It runs in an environment of its own, so that the tests need no torch, and reads the tiny random models of
`tests/models/golden`:

    python3.11 -m venv build/transformers
    build/transformers/bin/pip install torch==2.13.0 transformers==5.23.0
    build/transformers/bin/python tests/generation/golden/make_generation_golden.py

`generation.json` holds, for each model, prompts, the ids written greedily after each and by four beams, and
under `processors` logits, tokens so far, and the processed logits; null means minus infinity.
"""

import json
import pathlib
import platform
import sys

import numpy as np
import torch
import transformers

FOLDER = pathlib.Path(__file__).parent
MODELS = FOLDER.parents[1] / "models" / "golden"
sys.path.insert(0, str(MODELS))

from transformers_families import decoders  # noqa: E402

NAMES, MOST, BEAMS, END = ("gpt2", "llama", "llama_3_1"), 7, 4, 24
# Tokens of prompts, of several lengths.
LENGTHS = (1, 4, 6)


def model_of(name: str) -> torch.nn.Module:
    family = decoders.FAMILIES[name]
    model = family.model(family.config(**family.settings)).eval()
    with np.load(MODELS / f"{name}.npz") as given, torch.no_grad():
        for path, parameter in model.named_parameters():
            parameter.copy_(torch.tensor(given[f"weight/{path}"]))
    return model


def written(name: str) -> dict:
    model, generator = model_of(name), np.random.default_rng(3)
    prompts = [generator.integers(3, 40, length).tolist() for length in LENGTHS]

    def after(prompt: list[int], **values) -> list[list[int]]:
        found = model.generate(
            torch.tensor([prompt]),
            attention_mask=torch.ones([1, len(prompt)], dtype=torch.int64),
            max_new_tokens=MOST,
            do_sample=False,
            eos_token_id=END,
            pad_token_id=0,
            **values,
        )
        return [row[len(prompt) :] for row in found.tolist()]

    return {
        "prompts": prompts,
        "greedy": [after(prompt)[0] for prompt in prompts],
        "repetition_penalty": [after(prompt, repetition_penalty=1.7)[0] for prompt in prompts],
        "beams": [after(prompt, num_beams=BEAMS, num_return_sequences=2) for prompt in prompts],
        "beams, length penalty 2": [after(prompt, num_beams=BEAMS, length_penalty=2.0) for prompt in prompts],
    }


def processed() -> dict:
    """Returns well separated logits, and those logits after each processor and after all of them."""
    logits = np.round(np.random.default_rng(7).permutation(np.linspace(-4.0, 3.0, 24)).reshape(2, 12), 3)
    so_far = [[1, 5, 5], [0, 11, 3]]
    made = {
        "temperature": transformers.TemperatureLogitsWarper(0.7),
        "top_k": transformers.TopKLogitsWarper(3),
        "top_p": transformers.TopPLogitsWarper(0.8),
        "min_p": transformers.MinPLogitsWarper(0.1),
        "typical_p": transformers.TypicalLogitsWarper(0.6),
        "repetition_penalty": transformers.RepetitionPenaltyLogitsProcessor(1.5),
    }
    scores = torch.tensor(logits, dtype=torch.float32)
    found = {name: each(torch.tensor(so_far), scores.clone()).numpy() for name, each in made.items()}
    everything = scores.clone()
    for name in ("temperature", "top_k", "top_p", "min_p", "typical_p"):
        each = transformers.TopKLogitsWarper(8) if name == "top_k" else made[name]
        everything = each(torch.tensor(so_far), everything)
    found["all"] = everything.numpy()
    plain = {
        name: [[None if np.isinf(x) else float(x) for x in row] for row in each]
        for name, each in found.items()
    }
    return {"logits": logits.tolist(), "so_far": so_far, **plain}


def main() -> None:
    made_with = {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "command": "python tests/generation/golden/make_generation_golden.py",
    }
    found = {"made_with": made_with, "end": END, "most": MOST, **{name: written(name) for name in NAMES}}
    text = json.dumps({**found, "processors": processed()}, indent=1)
    (FOLDER / "generation.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
