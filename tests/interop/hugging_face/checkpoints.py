"""Golden files of transformers as folders in Hugging Face's format."""

import json
import pathlib

import numpy as np

from firth.interop.hugging_face.tensors import Tensors
from firth.storage.tensor_files import TensorFile, spec_of, write_tensors
from tests.models import references

WORDS = ["the", "a", "cat", "sat", "on", "mat", "##s"]
PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
# Rows of 512 tokens have up to as many spans.
_SENTINELS = [f"<extra_id_{number}>" for number in reversed(range(28))]
_ROWS = 64
# Positions begin after the id of padding.
_PADDED_BY_ONE = ["[UNK]", "[PAD]", *PIECES[2:]]
MODEL_TYPES = {
    "deberta": "deberta-v2",
    "gpt": "openai-gpt",
    "llama_3_1": "llama",
    "qwen_3": "qwen3",
    "t5_1_1": "t5",
}
NAMES = (*references.REFERENCES, "xlnet")
_DISCRIMINATOR = "discriminator."


def model_type(name: str) -> str:
    return MODEL_TYPES.get(name, name)


def tensors_of(name: str) -> dict[str, np.ndarray]:
    """The tensors of a golden file; of ELECTRA those of the discriminator, which is a model of its own."""
    golden = references.read_golden(name)
    found = {key.removeprefix("weight/"): value for key, value in golden.items() if "weight/" in key}
    of_discriminator = {key: value for key, value in found.items() if key.startswith(_DISCRIMINATOR)}
    found = {key.removeprefix(_DISCRIMINATOR): value for key, value in (of_discriminator or found).items()}
    if _has_sentinels(name):
        missing = ((0, _ROWS - references.VOCABULARY), (0, 0))
        tables = {key: value for key, value in found.items() if len(value) == references.VOCABULARY}
        found |= {key: np.pad(value, missing) for key, value in tables.items()}
    return found


def config_of(name: str) -> dict:
    config = references.made_with(name)["config"]
    return {**config, "vocab_size": _ROWS} if _has_sentinels(name) else config


def _has_sentinels(name: str) -> bool:
    return name.startswith("t5")


def write_safetensors(path: pathlib.Path, tensors: dict[str, np.ndarray]) -> None:
    specs = {name: spec_of(each) for name, each in tensors.items()}
    write_tensors(path, specs, tensors.items(), {"format": "pt"})


def opened(path: pathlib.Path, tensors: dict[str, np.ndarray]) -> Tensors:
    """Tensors by name as those of a file, which is written."""
    write_safetensors(path, tensors)
    file = TensorFile(path)
    return Tensors({name: (file, name) for name in tensors})


def checkpoint(folder: pathlib.Path, changed=(), name: str = "bert", **config) -> str:
    """A golden file with a vocabulary, as a folder; tensors may be changed or, by None, left out."""
    tensors = {**tensors_of(name), **dict(changed)}
    write_safetensors(
        folder / "model.safetensors", {key: value for key, value in tensors.items() if value is not None}
    )
    settings = {"model_type": model_type(name), **config_of(name), **config}
    (folder / "config.json").write_text(json.dumps(settings))
    pieces = _PADDED_BY_ONE if settings.get("pad_token_id") == 1 else PIECES
    pieces = [*pieces, *_SENTINELS] if _has_sentinels(name) else pieces
    (folder / "vocab.txt").write_text("".join(f"{piece}\n" for piece in pieces))
    return str(folder)
