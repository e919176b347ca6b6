"""Writes how one vector of a text is made, as sentence-transformers reads it."""

import os
from typing import Any

from firth import storage
from firth.interop.hugging_face.pooling import (
    CONFIG_FILE,
    KEYS,
    LENGTH_FILE,
    MODES,
    MODULES_FILE,
    NORMALIZE,
    POOLING,
    PROMPTS_FILE,
    TRANSFORMER,
    WEIGHTS,
    weights_without,
)
from firth.recipes.training.export import Export
from firth.tokenizers.storage import AnyTokenizer

_DEFAULT = "default"


def write_embedding(
    folder: str, export: Export, width: int, length: int, tokenizer: AnyTokenizer
) -> list[str]:
    """Writes the modules of sentence-transformers; nothing for a pooling that it does not have."""
    modes = {ours: mode for mode, ours in MODES.items()} | {"mean": "mean"}
    if export.pooling not in modes:
        return []
    said = {key: mode == modes[export.pooling] for mode, key in KEYS.items()}
    configs: dict[str, Any] = {POOLING: {"word_embedding_dimension": width, **said}}
    if export.pooling == "mean":
        configs = {WEIGHTS: weights_without(tokenizer), **configs}
    if export.normalize:
        configs[NORMALIZE] = {}
    places = {TRANSFORMER: ""} | {name: f"{index}_{name}" for index, name in enumerate(configs, 1)}
    modules = [
        {"idx": index, "name": str(index), "path": place, "type": f"sentence_transformers.models.{name}"}
        for index, (name, place) in enumerate(places.items())
    ]
    contents: dict[str, Any] = {
        MODULES_FILE: modules,
        LENGTH_FILE: {"max_seq_length": length, "do_lower_case": False},
    }
    if export.prompt:
        contents[PROMPTS_FILE] = {"prompts": {_DEFAULT: export.prompt}, "default_prompt_name": _DEFAULT}
    contents |= {os.path.join(places[name], CONFIG_FILE): config for name, config in configs.items()}
    for name, content in contents.items():
        storage.write_json(os.path.join(folder, name), content, indent=2)
    return list(contents)
