"""A loaded version of a model, whatever its files are."""

import abc
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from typing import Any

import numpy.typing as npt
import tensorflow as tf

from firth.serving.server.errors import RequestError
from firth.serving.server.slot_queue import SlotQueue
from firth.serving.signature_client import SignatureClient

Arrays = dict[str, npt.NDArray[Any]]


class ModelVersion(abc.ABC):
    """Base of the loaded versions of a model.

    Args:
        name: Name of the model.
        version: Number of the version.
        path: Folder of its files.

    Attributes:
        description: What the model says of itself; no signatures where another program exported it.
        signature_defs: Signatures by name, whatever their method name.
        client: Client that asks the signatures on texts.
        slots: Slots in which texts are written; None for a model without.
        changed: Time of the last change of its files, in seconds since 1970.
    """

    description: Mapping[str, Any]
    signature_defs: Mapping[str, Any]
    slots: SlotQueue | None
    changed: int

    def __init__(self, name: str, version: int, path: str) -> None:
        self.name, self.version, self.path = name, version, path
        self.client: SignatureClient = _VersionClient(self)

    def has(self, signature: str) -> bool:
        """Returns whether `submit` answers a signature.

        Args:
            signature: Name of the signature.
        """
        return signature in self.signature_defs

    @abc.abstractmethod
    def submit(self, signature: str, inputs: Mapping[str, npt.NDArray[Any]]) -> Future[Arrays]:
        """Returns the outputs of a signature, once they are computed.

        Args:
            signature: Name of the signature.
            inputs: Inputs by name, of the signature's dtypes.

        Raises:
            RequestError: 404 for an unknown signature, 400 for other inputs than it has, 429 if too many rows
                wait.
        """

    @property
    @abc.abstractmethod
    def queues(self) -> dict[str, int]:
        """Numbers of rows and texts that wait, and of texts that are written."""

    @abc.abstractmethod
    def close(self) -> None:
        """Answers what was taken, and frees the model."""


class _VersionClient(SignatureClient):
    """Asks a loaded version, in batches with what other requests ask."""

    def __init__(self, version: ModelVersion) -> None:
        self.title = version.name
        self._version = version

    @property
    def _descriptions(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self._version.description["signatures"]
        return found

    @property
    def _names(self) -> Sequence[str]:
        return list(self._version.signature_defs)

    def inputs(self, name: str) -> tuple[str, ...]:
        """Returns the names of a signature's inputs; empty if the model has no such signature.

        Args:
            name: Name of the signature.
        """
        found = self._version.signature_defs.get(name)
        return () if found is None else tuple(found.inputs)

    def _call(self, name: str, tensors: Mapping[str, tf.Tensor]) -> Arrays:
        arrays = {key: value.numpy() for key, value in tensors.items()}
        return self._version.submit(name, arrays).result()


def refusal_of(error: tf.errors.OpError) -> RequestError:
    r"""Returns TensorFlow's error as the refusal of a request, without the places in the graph.

    Example:

    >>> error = tf.errors.InvalidArgumentError(None, None, "assertion failed: [top_k: must be 0]\n\t [[a]]")
    >>> str(refusal_of(error)), refusal_of(error).status
    ('top_k: must be 0', 400)
    """
    # A line on the graph's execution and the places in the program come first, places in the graph last.
    last = error.message.partition("\n\t [[")[0].strip().rpartition("\n")[2]
    message = last.partition("assertion failed: [")[2].rpartition("]")[0] or last
    is_wrong = isinstance(error, tf.errors.InvalidArgumentError | tf.errors.OutOfRangeError)
    return RequestError(message, 400 if is_wrong else 500)
