"""The work of a process of `benchmarks.lstm`: one layer on one worker.

python -m benchmarks.workers.lstm_work WORKER LAYER LOTS

LAYER is JSON, LOTS an .npy of document ids [lots, rows, length].
"""

import dataclasses
import json
import os
import platform
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np

from benchmarks.workers import turns

FIRTH, JOINED, PACKED, MATMULS = "firth", "torch joined", "torch packed", "matmuls"


@dataclasses.dataclass(frozen=True)
class Layer:
    """An LSTM with projection, what its matmuls run in, and the rows or documents that it reads at once.

    The defaults are ELMo's reference model with half its cells.
    """

    cells: int = 2048
    width: int = 512
    directions: int = 1
    precision: str = "float32"
    batch: int = 32


def document_lengths(document_ids: np.ndarray) -> list[int]:
    """Returns the length of each document of a batch of rows.

    Example:

    >>> document_lengths(np.array([[1, 1, 2, 0], [1, 1, 1, 0]]))
    [2, 1, 3]
    """
    return [int(count) for row in document_ids for count in np.bincount(row)[1:]]


def row_batches(rows, batch: int) -> list:
    """Returns so many rows after so many."""
    return [rows[start : start + batch] for start in range(0, len(rows), batch)]


class Firth:
    """firth's layer on TensorFlow. It clips as ELMo does, and keeps the documents of a row apart."""

    def __init__(self, layer: Layer):
        import keras
        import tensorflow as tf

        from firth.layers import LSTM

        self.versions = {"tensorflow": tf.__version__, "keras": keras.__version__}
        directions, clips = layer.directions, {"cell_clip": 3.0, "projection_clip": 3.0}
        lstm = LSTM(layer.cells, layer.width, directions, **clips, dtype=layer.precision)
        lstm.build((None, None, directions * layer.width))
        weights = [weight.value for weight in lstm.trainable_weights]
        self._layer = layer

        @tf.function
        def infer(inputs, document_ids):
            return tf.reduce_sum(tf.cast(lstm(inputs, document_ids), tf.float32))

        @tf.function
        def train(inputs, document_ids):
            with tf.GradientTape() as tape:
                tape.watch(inputs)
                loss = tf.reduce_sum(tf.cast(lstm(inputs, document_ids), tf.float32))
            return tape.gradient(loss, [inputs, *weights])

        self._infer, self._train = infer, train

    def prepare(self, document_ids):
        """Returns batches of rows: vectors, and the documents that they belong to."""
        return [self._inputs(rows) for rows in row_batches(document_ids, self._layer.batch)]

    def _inputs(self, rows):
        import tensorflow as tf

        width = self._layer.directions * self._layer.width
        return tf.random.normal((*rows.shape, width)), tf.constant(rows, tf.int32)

    def inference(self, batch):
        """The outputs."""
        self._infer(*batch).numpy()

    def training(self, batch):
        """The outputs and the gradients."""
        for gradient in self._train(*batch):
            gradient.numpy()


class Torch:
    """torch's layer: documents joined into rows without padding, or each alone in its packed sequences."""

    def __init__(self, layer: Layer, packed: bool):
        import torch

        self._torch, self._layer, self._packed = torch, layer, packed
        self.versions = {"python": platform.python_version(), "torch": torch.__version__}
        shape = {"proj_size": layer.width, "bidirectional": layer.directions == 2}
        self._lstm = torch.nn.LSTM(layer.width, layer.cells, batch_first=True, **shape)

    def prepare(self, document_ids):
        """Returns batches of vectors and lengths: of joined rows, or of documents from the longest on."""
        lengths = sorted(document_lengths(document_ids), reverse=True)
        if not self._packed:
            row = document_ids.shape[1]
            lengths = [row] * (sum(lengths) // row)
        return [self._inputs(some) for some in row_batches(lengths, self._layer.batch)]

    def _inputs(self, lengths):
        shape = len(lengths), max(lengths), self._layer.width
        return self._torch.randn(shape), self._torch.tensor(lengths)

    def _run(self, inputs, lengths):
        with self._torch.autocast("cpu", self._torch.bfloat16, enabled=self._layer.precision != "float32"):
            if not self._packed:
                return self._lstm(inputs)[0].float().sum()
            packed = self._torch.nn.utils.rnn.pack_padded_sequence(
                inputs, lengths, batch_first=True, enforce_sorted=False
            )
            return self._lstm(packed)[0].data.float().sum()

    def inference(self, batch):
        """The outputs."""
        with self._torch.inference_mode():
            self._run(*batch).item()

    def training(self, batch):
        """The outputs and the gradients."""
        inputs, lengths = batch
        self._lstm.zero_grad(set_to_none=True)
        self._run(inputs.clone().requires_grad_(), lengths).backward()


class Matmuls:
    """The matmuls of firth's step, in TensorFlow and with nothing between them."""

    def __init__(self, layer: Layer):
        self.versions: dict[str, str] = {}
        self._layer, self._made = layer, None

    def prepare(self, document_ids):
        """Returns functions of the matmuls of inference and of training, once for each batch of rows."""
        batches = row_batches(document_ids, self._layer.batch)
        if self._made is None:
            forward, backward = matmuls(self._layer, *batches[0].shape)
            self._made = self._make(forward), self._make(forward + backward)
        return [self._made] * len(batches)

    def _make(self, shapes):
        import tensorflow as tf

        dtype = "float32" if self._layer.precision == "float32" else "bfloat16"
        pairs = [
            (tf.random.normal((rows, reduced)), tf.random.normal((reduced, columns)), times)
            for rows, reduced, columns, times in shapes
        ]
        pairs = [(tf.cast(left, dtype), tf.cast(right, dtype), times) for left, right, times in pairs]

        @tf.function
        def run():
            total = tf.zeros((), dtype)
            for left, right, times in pairs * self._layer.directions:
                for _ in range(times):
                    # One after another; and none is left out, unread or equal to another.
                    with tf.control_dependencies([total]):
                        total += tf.matmul(left, right)[0, 0]
            return total

        return run

    def inference(self, batch):
        """Those forward."""
        batch[0]().numpy()

    def training(self, batch):
        """Those forward and backward."""
        batch[1]().numpy()


def matmuls(layer: Layer, batch: int, length: int) -> tuple[list, list]:
    """Returns rows, reduced axis, columns and number of the products of a direction, forward and backward."""
    tokens, gates = length * batch, 4 * layer.cells
    forward = [
        (gates, layer.width, tokens, 1),
        (gates, layer.width, batch, length),
        (layer.width, layer.cells, batch, length),
    ]
    backward = [
        (layer.cells, layer.width, batch, length),
        (layer.width, gates, batch, length),
        (layer.width, gates, tokens, 1),
        (gates, tokens, layer.width, 2),
        (layer.width, tokens, layer.cells, 1),
    ]
    return forward, backward


WORKERS = {
    FIRTH: Firth,
    JOINED: lambda *arguments: Torch(*arguments, packed=False),
    PACKED: lambda *arguments: Torch(*arguments, packed=True),
    MATMULS: Matmuls,
}


def main() -> None:
    worker, layer, path = sys.argv[1:]
    lots = np.load(path)
    model = WORKERS[worker](Layer(**json.loads(layer)))
    prepared = [model.prepare(document_ids) for document_ids in lots]

    def do(work, _, lot):
        for batch in prepared[lot]:
            getattr(model, work)(batch)

    turns.answer(model.versions, do)


if __name__ == "__main__":
    main()
