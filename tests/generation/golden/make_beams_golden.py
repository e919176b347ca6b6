"""Writes beams.json: what `generate` of transformers finds with beams, for tiny models of four families.

It runs in an environment of its own, as `tests/models/golden/make_transformers_golden.py` does, and takes
that script's weights:

    build/transformers/bin/python tests/generation/golden/make_beams_golden.py

The file holds what it was made with and the prompts; and of each family the token that ends a text, the
tokens that a decoder starts from, and of each search the texts and scores for each prompt, the best first;
and of penalties the texts and scores of four beams, and the texts of the likeliest tokens.
"""

import json
import pathlib
import platform
import sys

import numpy as np
import torch
import transformers

FOLDER = pathlib.Path(__file__).parent
MODELS = FOLDER.parents[1] / "models/golden"
sys.path.insert(0, str(MODELS))

from transformers_families import decoders, encoder_decoders  # noqa: E402

PROMPTS = [[5, 7, 9, 4, 30], [11], [8, 6, 22]]
MOST = 8
# By family, the token that ends a text, which its random weights often write, and a decoder's start.
FAMILIES = {"gpt2": (25, None), "llama": (17, None), "t5": (28, [0]), "bart": (21, [2, 4])}
SEARCHES = [
    {"beams": 4, "length_penalty": 0.6, "n_best": 1, "early_stopping": False},
    {"beams": 4, "length_penalty": 1.0, "n_best": 3, "early_stopping": False},
    {"beams": 3, "length_penalty": 2.0, "n_best": 3, "early_stopping": False},
    {"beams": 3, "length_penalty": 1.0, "n_best": 2, "early_stopping": True},
    {"beams": 2, "length_penalty": 1.0, "n_best": 2, "early_stopping": "never"},
]
# What is asked for next to a search of four beams, and of the likeliest token at each place.
PENALTIES = [
    {"repetition_penalty": 1.7},
    {"repetition_penalty": 0.8},
    {"no_repeat_ngram_size": 2},
    {"no_repeat_ngram_size": 1, "min_new_tokens": 3},
    {"min_new_tokens": 6},
    {"repetition_penalty": 1.3, "no_repeat_ngram_size": 3, "min_new_tokens": 2},
]
FOUR = {"beams": 4, "length_penalty": 1.0, "n_best": 2, "early_stopping": False}
ONE = {"beams": 1, "length_penalty": 1.0, "n_best": 1, "early_stopping": False}


def model_of(name: str) -> transformers.PreTrainedModel:
    family = {**decoders.FAMILIES, **encoder_decoders.FAMILIES}[name]
    model = family.model(family.config(**family.settings)).eval()
    with np.load(MODELS / f"{name}.npz") as arrays, torch.no_grad():
        for path, parameter in model.named_parameters():
            parameter.copy_(torch.tensor(arrays[f"weight/{path}"]))
    # Families have settings of their own for what is written, such as BART's forced end.
    model.generation_config = transformers.GenerationConfig()
    return model


def found(model, prompt: list[int], end: int, start: list[int] | None, search: dict, **penalties) -> list:
    given = {
        "input_ids": torch.tensor([prompt]),
        "attention_mask": torch.ones([1, len(prompt)], dtype=torch.long),
    }
    if start:
        given["decoder_input_ids"] = torch.tensor([start])
    answer = model.generate(
        **given,
        max_new_tokens=MOST,
        num_beams=search["beams"],
        num_return_sequences=search["n_best"],
        length_penalty=search["length_penalty"],
        early_stopping=search["early_stopping"],
        do_sample=False,
        eos_token_id=end,
        # Padding must be no token that is written, so that texts can be cut before it.
        pad_token_id=PADDING,
        decoder_start_token_id=None if start is None else start[0],
        return_dict_in_generate=True,
        output_scores=True,
        **penalties,
    )
    skipped = len(start or prompt)
    texts = [[token for token in row[skipped:].tolist() if token != PADDING] for row in answer.sequences]
    if search["beams"] == 1:
        return texts
    return [[text, round(float(score), 5)] for text, score in zip(texts, answer.sequences_scores)]


PADDING = 1_000


def main() -> None:
    families = {}
    for name, (end, start) in FAMILIES.items():
        model = model_of(name)
        searches = [
            {**search, "found": [found(model, prompt, end, start, search) for prompt in PROMPTS]}
            for search in SEARCHES
        ]
        penalised = [
            {
                "asked": asked,
                "beams": [found(model, prompt, end, start, FOUR, **asked) for prompt in PROMPTS],
                "greedy": [found(model, prompt, end, start, ONE, **asked)[0] for prompt in PROMPTS],
            }
            for asked in PENALTIES
        ]
        families[name] = {"end": end, "start": start or [], "searches": searches, "penalised": penalised}
    made_with = {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "command": "python tests/generation/golden/make_beams_golden.py",
    }
    contents = {"made_with": made_with, "prompts": PROMPTS, "most": MOST, "families": families}
    (FOLDER / "beams.json").write_text(json.dumps(contents, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
