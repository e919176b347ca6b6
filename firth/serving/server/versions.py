"""One loaded version of a model: its graphs, its batches and its slots."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from typing import Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf
import tensorflow_text  # noqa: F401  (registers the ops that the graph's tokenizer needs)

from firth import storage
from firth.recipes.base.errors import suggest
from firth.serving.exported_model import read_description
from firth.serving.isolated_check import Loaded
from firth.serving.server.batching import DynamicBatcher
from firth.serving.server.errors import RequestError
from firth.serving.server.metrics import Metrics
from firth.serving.server.settings import ServerSettings
from firth.serving.server.slot_queue import SlotQueue
from firth.serving.signature_client import SignatureClient
from firth.serving.slots.batcher import ContinuousBatcher
from firth.serving.warmup import read_warmup

Arrays = dict[str, npt.NDArray[Any]]


class ModelVersion:
    """One loaded version of a model.

    Args:
        name: Name of the model.
        version: Number of the version.
        path: Folder of its SavedModel.
        settings: Settings of the server.
        metrics: Counts of batches and tokens.

    Attributes:
        description: What the model says of itself; no signatures where another program exported it.
        meta_graph: The loaded MetaGraphDef, without its graph.
        signature_defs: Signatures by name, whatever their method name.
        client: Client that asks the signatures on texts.
        slots: Slots in which texts are written; None for a model without.

    Raises:
        ValueError: if the files do not fit each other, or a warm-up request fails.
    """

    def __init__(
        self, name: str, version: int, path: str, settings: ServerSettings, metrics: Metrics
    ) -> None:
        self.name, self.version, self.path = name, version, path
        self.description: Mapping[str, Any] = read_description(path)
        with storage.local_copy(path) as local:
            self._loaded = Loaded(local)
            self.meta_graph = self._loaded.meta_graph
            self.signature_defs: Mapping[str, Any] = dict(self.meta_graph.signature_def)
            # The loader's own ones, such as that of the initializer, begin so.
            if all(each.startswith("__") for each in self.signature_defs):
                raise ValueError(f"{path} has no signatures: nothing can be asked of this SavedModel")
            described = {**self.description["signatures"], **self.description["other_signatures"]}
            if missing := [each for each in described if each not in self.signature_defs]:
                raise ValueError(f"{path}: firth.json describes {missing[0]}, which the SavedModel lacks")
            for request in read_warmup(local):
                self.run(request.signature, request.inputs)
        self._batcher = DynamicBatcher(
            self.run,
            settings.max_batch_rows,
            settings.max_queued_rows,
            settings.batch_threads,
            lambda rows: metrics.batch(name, rows),
        )
        self.slots: SlotQueue | None = None
        if "slots" in self.description:
            batcher = ContinuousBatcher(path, loaded=self._loaded)
            self.slots = SlotQueue(
                batcher,
                settings.max_queued_texts,
                lambda seconds, is_first: metrics.token(name, seconds, is_first),
            )
        self.client: SignatureClient = _VersionClient(self)

    def run(self, signature: str, inputs: Mapping[str, Any]) -> Arrays:
        """Returns the outputs of a signature, computed at once; lists become arrays of its dtypes."""
        definition = self.signature_defs[signature]
        feed = {
            definition.inputs[key].name: _as_input(values, definition.inputs[key])
            for key, values in inputs.items()
        }
        fetched = {key: info.name for key, info in definition.outputs.items()}
        try:
            found: Arrays = self._loaded.session.run(fetched, feed)
        except tf.errors.OpError as error:
            raise refusal_of(error) from None
        except UnicodeDecodeError:
            # TensorFlow quotes the bytes that it cannot read.
            raise RequestError(f"{signature}: an input cannot be read, and is not UTF-8") from None
        return found

    def submit(self, signature: str, inputs: Mapping[str, npt.NDArray[Any]]) -> Future[Arrays]:
        """Returns the outputs of a signature, once they are computed.

        Rows of the signatures that `description` has are computed together with those of other requests.

        Args:
            signature: Name of the signature.
            inputs: Inputs by name, of the signature's dtypes.

        Raises:
            RequestError: 404 for an unknown signature, 400 for other inputs than it has, 429 if too many rows
                wait.
        """
        if signature not in self.signature_defs:
            known = suggest(signature, self.signature_defs)
            raise RequestError(f"{self.name} has no signature {signature}; {known}", 404, "signature_name")
        needed = set(self.signature_defs[signature].inputs)
        if needed != set(inputs):
            wrong = sorted(needed ^ set(inputs))[0]
            kind = "is missing" if wrong in needed else f"is unknown; {suggest(wrong, needed)}"
            raise RequestError(f"the input {wrong} of {signature} {kind}", 400, wrong)
        sizes = {values.shape[:1] for values in inputs.values()}
        if self._is_by_rows(signature) and len(sizes) == 1 and () not in sizes:
            return self._batcher.submit(signature, inputs)
        future: Future[Arrays] = Future()
        future.set_result(self.run(signature, inputs))
        return future

    def _is_by_rows(self, signature: str) -> bool:
        """Returns whether a signature's rows do not depend on each other, which `firth` has checked."""
        return signature.removesuffix("_with_parameters") in self.description["signatures"]

    @property
    def queues(self) -> dict[str, int]:
        """Numbers of rows and texts that wait, and of texts that are written."""
        found = {"queued_rows": self._batcher.queued}
        if self.slots is not None:
            found |= {"queued_texts": self.slots.queued, "active_slots": self.slots.active}
        return found

    def close(self) -> None:
        """Answers what was taken, and frees the model."""
        if self.slots is not None:
            self.slots.close()
        self._batcher.close()
        self._loaded.session.close()


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


def _as_input(values: Any, info: Any) -> npt.NDArray[Any]:
    dtype = tf.dtypes.as_dtype(info.dtype)
    made = np.asarray(values, object if dtype == tf.string else dtype.as_numpy_dtype)
    # Rows of nothing have lost their other axes.
    return made if made.size else made.reshape(made.shape[:1] + (0,) * (len(info.tensor_shape.dim) - 1))


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
