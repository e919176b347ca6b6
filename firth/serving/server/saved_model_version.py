"""A loaded SavedModel: its graphs, its batches and its slots."""

import os
import queue
from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any

import numpy as np
import numpy.typing as npt
import tensorflow as tf
import tensorflow_text  # noqa: F401  (registers the ops that the graph's tokenizer needs)

from firth import storage
from firth.recipes.base.errors import suggest
from firth.serving.exported_model import SAVED_MODEL, read_description
from firth.serving.server.batching import DynamicBatcher
from firth.serving.server.errors import RequestError
from firth.serving.server.metrics import Metrics
from firth.serving.server.settings import ServerSettings
from firth.serving.server.slot_queue import SlotQueue
from firth.serving.server.unbatched import UnbatchedRequests
from firth.serving.server.versions import Arrays, ModelVersion, refusal_of
from firth.serving.slots.batcher import ContinuousBatcher
from firth.serving.slots.loaded import Loaded
from firth.serving.warmup import read_warmup


class SavedModelVersion(ModelVersion):
    """A version that is a SavedModel.

    Args:
        name: Name of the model.
        version: Number of the version.
        path: Folder of its SavedModel.
        settings: Settings of the server.
        metrics: Counts of batches and tokens.

    Attributes:
        meta_graph: The loaded MetaGraphDef, without its graph.

    Raises:
        ValueError: if the files do not fit each other, or a warm-up request fails.
    """

    def __init__(
        self, name: str, version: int, path: str, settings: ServerSettings, metrics: Metrics
    ) -> None:
        super().__init__(name, version, path)
        self.description = read_description(path)
        with storage.local_copy(path) as local:
            self._loaded = Loaded(local, settings.batch_threads)
            self.meta_graph = self._loaded.meta_graph
            self.signature_defs = dict(self.meta_graph.signature_def)
            # The loader's own ones, such as that of the initializer, begin so.
            if all(each.startswith("__") for each in self.signature_defs):
                raise ValueError(f"{path} has no signatures: nothing can be asked of this SavedModel")
            described = {**self.description["signatures"], **self.description["other_signatures"]}
            if missing := [each for each in described if each not in self.signature_defs]:
                raise ValueError(f"{path}: firth.json describes {missing[0]}, which the SavedModel lacks")
            for request in read_warmup(local):
                self.run(request.signature, request.inputs)
        self.changed = storage.stamp_of(os.path.join(path, SAVED_MODEL))[1] // 10**9
        self._lanes: queue.SimpleQueue[int] = queue.SimpleQueue()
        for lane in range(settings.batch_threads):
            self._lanes.put(lane + 1)
        self._batcher = DynamicBatcher(
            self._run_in_lane,
            settings.max_batch_rows,
            settings.max_queued_rows,
            settings.batch_threads,
            lambda rows: metrics.batch(name, rows),
        )
        self._unbatched: UnbatchedRequests[Arrays] = UnbatchedRequests(settings.max_queued_rows)
        self.slots = None
        if "slots" in self.description:
            batcher = ContinuousBatcher(path, loaded=self._loaded)
            self.slots = SlotQueue(
                batcher,
                settings.max_queued_texts,
                lambda seconds, is_first: metrics.token(name, seconds, is_first),
            )

    def _run_in_lane(self, signature: str, inputs: Mapping[str, Any]) -> Arrays:
        lane = self._lanes.get()
        try:
            return self.run(signature, inputs, lane)
        finally:
            self._lanes.put(lane)

    def run(self, signature: str, inputs: Mapping[str, Any], lane: int = 0) -> Arrays:
        """Returns the outputs of a signature, computed at once; lists become arrays of its dtypes.

        Args:
            signature: Name of the signature.
            inputs: Its inputs by name.
            lane: Number of the thread that starts its operations; 0 for those that all runs share.
        """
        definition = self.signature_defs[signature]
        feed = {
            definition.inputs[key].name: _as_input(values, definition.inputs[key])
            for key, values in inputs.items()
        }
        fetched = {key: info.name for key, info in definition.outputs.items()}
        try:
            options = tf.compat.v1.RunOptions(inter_op_thread_pool=lane)
            found: Arrays = self._loaded.session.run(fetched, feed, options)
        except tf.errors.OpError as error:
            raise refusal_of(error) from None
        except UnicodeDecodeError:
            # TensorFlow quotes the bytes that it cannot read.
            raise RequestError(f"{signature}: an input cannot be read, and is not UTF-8") from None
        return found

    def submit(self, signature: str, inputs: Mapping[str, npt.NDArray[Any]]) -> Future[Arrays]:
        """Returns the outputs of a signature, once they are computed.

        Rows of the signatures that `description` has are computed together with those of other requests; see
        the base.
        """
        if signature not in self.signature_defs:
            known = suggest(signature, self.signature_defs)
            raise RequestError(f"{self.name} has no signature {signature}; {known}", 404, "signature_name")
        needed = set(self.signature_defs[signature].inputs)
        if needed != set(inputs):
            # A misspelt one is both unknown and missing.
            wrong = min(set(inputs) - needed or needed - set(inputs))
            kind = "is missing" if wrong in needed else f"is unknown; {suggest(wrong, needed)}"
            raise RequestError(f"the input {wrong} of {signature} {kind}", 400, wrong)
        sizes = {values.shape[:1] for values in inputs.values()}
        if self._is_by_rows(signature) and len(sizes) == 1 and () not in sizes:
            return self._batcher.submit(signature, inputs)
        return self._unbatched.submit(lambda: self.run(signature, inputs))

    def _is_by_rows(self, signature: str) -> bool:
        """Returns whether a signature's rows do not depend on each other, which `firth` has checked."""
        return signature.removesuffix("_with_parameters") in self.description["signatures"]

    @property
    def queues(self) -> dict[str, int]:
        """Numbers of rows and texts that wait, and of texts that are written."""
        found = {"queued_rows": self._batcher.queued + self._unbatched.queued}
        if self.slots is not None:
            found |= {"queued_texts": self.slots.queued, "active_slots": self.slots.active}
        return found

    def close(self) -> None:
        """Answers what was taken, and frees the model."""
        if self.slots is not None:
            self.slots.close()
        self._batcher.close()
        self._unbatched.close()
        self._loaded.session.close()


def _as_input(values: Any, info: Any) -> npt.NDArray[Any]:
    dtype = tf.dtypes.as_dtype(info.dtype)
    made = np.asarray(values, object if dtype == tf.string else dtype.as_numpy_dtype)
    # Rows of nothing have lost their other axes.
    return made if made.size else made.reshape(made.shape[:1] + (0,) * (len(info.tensor_shape.dim) - 1))
