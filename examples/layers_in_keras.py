"""Trains a small language model over bytes with Keras's own `fit`: layers of firth, and no pipeline.

    python examples/layers_in_keras.py

It reads the docstrings of Keras, and ends with what the model writes after a few words.
"""

import argparse
import ast
import pathlib

import keras
import numpy as np
from keras import ops

from firth.layers import CausalTransformer, StackConfig

LENGTH, WIDTH = 64, 64


def text_of(package: pathlib.Path, most: int = 1_000_000) -> bytes:
    """Returns the docstrings of a package, as UTF-8.

    Args:
        package: The package's folder.
        most: Bytes after which to stop.
    """
    found = b""
    for path in sorted(package.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                found += (ast.get_docstring(node) or "").encode() + b"\n\n"
        if len(found) > most:
            break
    return found[:most]


def build_model() -> keras.Model:
    """Returns a model from bytes, int32 [batch, length], to logits of the next ones, [batch, length, 256]."""
    token_ids = keras.Input((LENGTH,), dtype="int32")
    document_ids = ops.ones_like(token_ids)  # each row is one document
    position_ids = ops.cumsum(document_ids, axis=1) - 1
    stack = StackConfig(
        layers=2,
        width=WIDTH,
        attention={"heads": 4, "dropout": 0.0},
        norm={"kind": "rms_norm", "placement": "pre"},
        positions={"kind": "rotary"},
        dropout=0.0,
    )
    decoder = CausalTransformer(stack)
    hidden = keras.layers.Embedding(256, WIDTH)(token_ids)
    hidden = decoder(hidden, document_ids, position_ids=position_ids)
    return keras.Model(token_ids, keras.layers.Dense(256)(hidden))


def write(model: keras.Model, start: str, count: int) -> str:
    """Returns a text and what the model writes after it, always the likeliest byte."""
    text = list(start.encode())
    for _ in range(count):
        row = (text + [0] * LENGTH)[:LENGTH] if len(text) < LENGTH else text[-LENGTH:]
        logits = model(np.array([row], "int32"))[0, min(len(text), LENGTH) - 1]
        text.append(int(ops.argmax(logits)))
    return bytes(text).decode("utf-8", "replace")


def main() -> None:
    """Trains, and writes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=600, help="steps of the training")
    steps = parser.parse_args().steps
    text = np.frombuffer(text_of(pathlib.Path(keras.__file__).parent), "uint8").astype("int32")
    rows = text[: len(text) // LENGTH * LENGTH].reshape(-1, LENGTH)
    inputs, labels, weights = rows, np.roll(rows, -1, axis=1), np.ones(rows.shape, "float32")
    weights[:, -1] = 0.0  # a row's last byte has no next one
    keras.utils.set_random_seed(1)
    model = build_model()
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.Adam(3e-3), loss, jit_compile=False)
    chosen = np.random.default_rng(1).integers(0, len(rows), 32 * steps)
    data = {"x": inputs[chosen], "y": labels[chosen], "sample_weight": weights[chosen]}
    history = model.fit(**data, batch_size=32, verbose=2)
    print(f"bits per byte: {history.history['loss'][-1] / np.log(2) * LENGTH / (LENGTH - 1):.2f}")
    print(write(model, "Returns the ", 60))


if __name__ == "__main__":
    main()
