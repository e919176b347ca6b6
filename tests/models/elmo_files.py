"""Inputs of ELMo's tests: AllenNLP's fixture, random files, and the characters of words in plain Python."""

import json
import pathlib

import numpy as np
import pytest

FIXTURE = "golden/elmo_allennlp"
BEGIN, END = "<S>", "</S>"
# The numbers are AllenNLP's, which count a word's characters from 1.
WORD_BEGIN, WORD_END, PADDING = 259, 260, 261


def write_random_files(
    folder: pathlib.Path, width: int = 4, cells: int = 6
) -> tuple[pathlib.Path, pathlib.Path]:
    """Writes options and weights of a tiny model in AllenNLP's format, and returns their paths."""
    h5py = pytest.importorskip("h5py")
    filters = [[1, 3], [3, 5]]
    options = {
        "lstm": {
            "cell_clip": 3,
            "use_skip_connections": True,
            "n_layers": 2,
            "proj_clip": 3,
            "projection_dim": width,
            "dim": cells,
        },
        "char_cnn": {
            "embedding": {"dim": 2},
            "filters": filters,
            "n_highway": 1,
            "n_characters": 262,
            "max_characters_per_token": 10,
            "activation": "relu",
        },
    }
    shapes = {"char_embed": (261, 2), "CNN_proj/W_proj": (8, width), "CNN_proj/b_proj": (width,)}
    for place, (window, count) in enumerate(filters):
        shapes |= {f"CNN/W_cnn_{place}": (1, window, 2, count), f"CNN/b_cnn_{place}": (count,)}
    for kind in ("carry", "transform"):
        shapes |= {f"CNN_high_0/W_{kind}": (8, 8), f"CNN_high_0/b_{kind}": (8,)}
    for direction in range(2):
        for layer in range(2):
            cell = f"RNN_{direction}/RNN/MultiRNNCell/Cell{layer}/LSTMCell"
            shapes |= {f"{cell}/W_0": (2 * width, 4 * cells), f"{cell}/B": (4 * cells,)}
            shapes |= {f"{cell}/W_P_0": (cells, width)}
    generator = np.random.default_rng(0)
    with h5py.File(folder / "weights.hdf5", "w") as file:
        for name, shape in shapes.items():
            file[name] = generator.normal(size=shape).astype("float32")
    (folder / "options.json").write_text(json.dumps(options))
    return folder / "options.json", folder / "weights.hdf5"


def characters_of(word: str, max_characters: int) -> np.ndarray:
    """Returns int32 [max_characters]."""
    inner = {BEGIN: [257], END: [258]}.get(word) or [byte + 1 for byte in word.encode()]
    marked = [WORD_BEGIN, *inner[: max_characters - 2], WORD_END]
    return np.array(marked + [PADDING] * (max_characters - len(marked)), "int32")
