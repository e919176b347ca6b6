"""A local client: answers from an exported model, with TensorFlow and tensorflow-text alone."""

import functools
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy.typing as npt
import tensorflow as tf
import tensorflow_text  # noqa: F401  (registers the ops that the graph's tokenizer needs)

from firth import storage
from firth.serving.exported_model import newest_model, read_description
from firth.serving.signature_client import SignatureClient


class Client(SignatureClient):
    """Asks the newest model of a serving directory.

    Args:
        directory: Folder of a SavedModel, or a serving directory with a folder for each version
            (`1700000000/`), of which the highest number is taken.

    Attributes:
        path: Folder of the SavedModel.
        saved_model: The SavedModel as TensorFlow loads it.

    Raises:
        NoModelError: if there is no model.

    Example:

    >>> client = Client("firth-runs/demo/serving")  # doctest: +SKIP
    >>> client.fill_mask(["Returns the [MASK] of a list."])[0][0][0]  # doctest: +SKIP
    Candidate(piece='length', score=0.31)
    """

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self.path = newest_model(os.fspath(directory))
        self.title = self.path
        self.saved_model = tf.saved_model.load(self.path)

    @functools.cached_property
    def description(self) -> dict[str, Any]:
        """The model's description; see `firth.serving.exported_model`."""
        return read_description(self.path)

    @property
    def _descriptions(self) -> Mapping[str, Any]:
        return self.description["signatures"]

    @property
    def _names(self) -> Iterable[str]:
        return self.saved_model.signatures

    def evaluate(self, rows: Sequence[bytes]) -> dict[str, npt.NDArray[Any]]:
        """Returns the sums that each row adds to the metrics, and the inputs of scores, by name: [rows, ...].

        Args:
            rows: Serialized rows, as the model was trained on.

        Raises:
            ValueError: if the model has no signature `evaluate`.
        """
        if "evaluate" not in self.saved_model.signatures:
            raise ValueError(f"{self.path} has no signature evaluate")
        outputs = self.saved_model.signatures["evaluate"](examples=tf.constant(list(rows), tf.string))
        return {key: value.numpy() for key, value in outputs.items()}

    def inputs(self, name: str) -> tuple[str, ...]:
        """Returns the names of a signature's inputs; empty if the model has no such signature.

        Args:
            name: Name of the signature.
        """
        signature = self.saved_model.signatures.get(name)
        return () if signature is None else tuple(signature.structured_input_signature[1])

    def _call(self, name: str, tensors: Mapping[str, tf.Tensor]) -> dict[str, npt.NDArray[Any]]:
        outputs = self.saved_model.signatures[name](**tensors)
        return {key: value.numpy() for key, value in outputs.items()}


def shared_client(directory: str | os.PathLike[str]) -> Client:
    """Returns a client of a model, the same one for as long as the model's files are the same.

    The steps of a run ask one model, whose graphs take a second or two to load. The model that was asked last
    is kept, until `forget_client` is called.

    Args:
        directory: As for `Client`.

    Raises:
        NoModelError: if there is no model.
    """
    path = newest_model(os.fspath(directory))
    names = storage.files_below(path)
    return _kept_client(path, tuple((name, *storage.stamp_of(os.path.join(path, name))) for name in names))


@functools.lru_cache(maxsize=1)
def _kept_client(path: str, files: tuple[tuple[str, int, int], ...]) -> Client:
    return Client(path)


def forget_client() -> None:
    """Lets go of the model that `shared_client` keeps."""
    _kept_client.cache_clear()
