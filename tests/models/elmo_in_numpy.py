"""ELMo as AllenNLP computes it, from options and weights in its format, one word and one step at a time."""

import json
import pathlib

import h5py
import numpy as np


def sigmoid(values):
    return 1 / (1 + np.exp(-values))


class ElmoInNumpy:
    """Weights of both files, and what they make of characters."""

    def __init__(self, options: pathlib.Path, weights: pathlib.Path):
        self.options = json.loads(options.read_text())
        self.weights: dict[str, np.ndarray] = {}
        with h5py.File(weights) as file:
            file.visititems(lambda name, found: self._keep(name, found))

    def _keep(self, name, found):
        if isinstance(found, h5py.Dataset):
            self.weights[name] = np.array(found, "float64")

    def word(self, characters: np.ndarray) -> np.ndarray:
        """Returns the vector [projection_dim] of a word of characters, int32 [max_characters], from 1 on."""
        get, letters = self.weights.__getitem__, self.weights["char_embed"][characters - 1]
        parts = []
        for place, (width, _) in enumerate(self.options["char_cnn"]["filters"]):
            kernel = get(f"CNN/W_cnn_{place}")[0]
            windows = [letters[start : start + width] for start in range(len(letters) - width + 1)]
            found = [np.einsum("wc,wcf->f", window, kernel) for window in windows]
            parts.append(np.maximum(np.max(found, axis=0) + get(f"CNN/b_cnn_{place}"), 0))
        vector = np.concatenate(parts)
        for place in range(self.options["char_cnn"]["n_highway"]):
            name = f"CNN_high_{place}"
            carry = sigmoid(vector @ get(f"{name}/W_carry") + get(f"{name}/b_carry"))
            made = np.maximum(vector @ get(f"{name}/W_transform") + get(f"{name}/b_transform"), 0)
            vector = carry * made + (1 - carry) * vector
        return vector @ get("CNN_proj/W_proj") + get("CNN_proj/b_proj")

    def layers(self, words: np.ndarray) -> np.ndarray:
        """Returns the layers [1 + n_layers, words, 2 * projection_dim] of int32 [words, max_characters]."""
        vectors = np.stack([self.word(each) for each in words])
        sides = [[vectors], [vectors[::-1]]]
        for direction, layers in enumerate(sides):
            for layer in range(self.options["lstm"]["n_layers"]):
                states = self._lstm(layers[-1], direction, layer)
                layers.append(states + layers[-1] if layer else states)
        return np.concatenate([sides[0], np.array(sides[1])[:, ::-1]], axis=-1)

    def _lstm(self, inputs: np.ndarray, direction: int, layer: int) -> np.ndarray:
        lstm = self.options["lstm"]
        name = f"RNN_{direction}/RNN/MultiRNNCell/Cell{layer}/LSTMCell"
        hidden, cell = np.zeros(lstm["projection_dim"]), np.zeros(lstm["dim"])
        states = []
        for each in inputs:
            summed = np.concatenate([each, hidden]) @ self.weights[f"{name}/W_0"] + self.weights[f"{name}/B"]
            taken, candidate, kept, given = np.split(summed, 4)
            cell = sigmoid(taken) * np.tanh(candidate) + sigmoid(kept + 1) * cell
            cell = np.clip(cell, -lstm["cell_clip"], lstm["cell_clip"])
            hidden = (sigmoid(given) * np.tanh(cell)) @ self.weights[f"{name}/W_P_0"]
            hidden = np.clip(hidden, -lstm["proj_clip"], lstm["proj_clip"])
            states.append(hidden)
        return np.stack(states)
