"""The models of a server: their versions on disk and in memory."""

import contextlib
import gc
import logging
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import tensorflow as tf
import tensorflow_text  # noqa: F401  (registers the ops that the graph's tokenizer needs)

from firth import storage
from firth.recipes.base.errors import suggest
from firth.serving.exported_model import SAVED_MODEL, NoModelError, is_version, read_description
from firth.serving.isolated_check import Loaded
from firth.serving.server.batching import DynamicBatcher
from firth.serving.server.errors import RequestError
from firth.serving.server.logs import log
from firth.serving.server.metrics import Metrics
from firth.serving.server.settings import ServerSettings
from firth.serving.server.slot_queue import SlotQueue
from firth.serving.signature_client import SignatureClient
from firth.serving.slots.batcher import ContinuousBatcher
from firth.serving.warmup import read_warmup

Arrays = dict[str, npt.NDArray[Any]]
# As TF Serving names them.
State = Literal["START", "LOADING", "AVAILABLE", "UNLOADING", "END"]


class VersionStatus(NamedTuple):
    """The state of a version.

    Attributes:
        version: Number of the version.
        state: TF Serving's name of its state.
        error_code: gRPC's number of the error for which it is not served; 0 without one.
        error_message: The error.
    """

    version: int
    state: State
    error_code: int = 0
    error_message: str = ""


class ModelSource(NamedTuple):
    """A model and where its versions are.

    Attributes:
        name: Name in requests.
        path: Folder of a SavedModel, or a serving directory with a folder for each version.
        versions: Versions that are served; empty for the newest ones.
        newest: Number of the newest versions that are served where `versions` is empty; 0 for all.
        labels: Versions by label.
    """

    name: str
    path: str
    versions: Sequence[int] = ()
    newest: int = 1
    labels: Mapping[str, int] = {}

    def wanted(self) -> dict[int, str]:
        """Returns the folders of the versions that are to be served, by version, as they are on disk now.

        Raises:
            NoModelError: if there is no folder, or no version in it.
        """
        if storage.exists(os.path.join(self.path, SAVED_MODEL)):
            name = os.path.basename(os.path.abspath(self.path))
            return {int(name) if is_version(name) else 1: self.path}
        if not storage.is_folder(self.path):
            raise NoModelError(f"there is no folder {self.path}: no model was pushed there")
        names = filter(is_version, storage.list_folder(self.path))
        # Pusher copies saved_model.pb last, so a version without it is still on its way.
        found = {
            int(name): os.path.join(self.path, name)
            for name in names
            if storage.exists(os.path.join(self.path, name, SAVED_MODEL))
        }
        if not found:
            raise NoModelError(f"{self.path} holds no version of a model: none was pushed, or none is whole")
        if self.versions:
            return {version: path for version, path in found.items() if version in self.versions}
        return {version: found[version] for version in sorted(found)[-self.newest :]}


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


class _Held:
    """A version and the number of requests that use it."""

    def __init__(self, version: ModelVersion) -> None:
        self.version, self.leases = version, 0


class Models:
    """The models of a server by name, each with its loaded versions.

    Args:
        sources: The models.
        settings: Settings of the server.
        metrics: Counts of the server; None makes new ones.

    Raises:
        NoModelError: if a model has no version.
        ValueError: if a model cannot be loaded.
    """

    def __init__(
        self, sources: Sequence[ModelSource], settings: ServerSettings, metrics: Metrics | None = None
    ) -> None:
        self._settings, self._metrics = settings, Metrics() if metrics is None else metrics
        self._metrics.watch(self._queues)
        self._changed = threading.Condition()
        self._reloading = threading.Lock()
        self._held: dict[str, dict[int, _Held]] = {}
        self._statuses: dict[str, dict[int, VersionStatus]] = {}
        self._sources: dict[str, ModelSource] = {}
        # Of each version that could not be loaded, its files at that time.
        self._failed: dict[tuple[str, int], list[Any]] = {}
        # Threads that let go of versions which requests still use.
        self._leaving: list[threading.Thread] = []
        self.reload(sources)
        for name, statuses in self._statuses.items():
            if not self._held[name]:
                raise ValueError(f"{name}: {next(iter(statuses.values())).error_message}")

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the models."""
        return tuple(self._sources)

    @property
    def sources(self) -> tuple[ModelSource, ...]:
        """The models as they are to be served."""
        return tuple(self._sources.values())

    @contextlib.contextmanager
    def lease(
        self, name: str, version: int | None = None, label: str | None = None
    ) -> Iterator[ModelVersion]:
        """Gives a loaded version, which stays loaded meanwhile.

        Args:
            name: Name of the model.
            version: Number of the version; None for the newest.
            label: Label instead of a number.

        Raises:
            RequestError: 404 for an unknown model, label or version, with what there is.
        """
        with self._changed:
            held = self._find(name, version, label)
            held.leases += 1
        try:
            yield held.version
        finally:
            with self._changed:
                held.leases -= 1
                self._changed.notify_all()

    def is_available(self, name: str) -> bool:
        """Returns whether a model has a loaded version."""
        return bool(self._held.get(name))

    def _queues(self) -> Iterator[tuple[str, int, dict[str, int]]]:
        with self._changed:
            held = [each.version for versions in self._held.values() for each in versions.values()]
        return ((each.name, each.version, each.queues) for each in held)

    def status(self, name: str, version: int | None = None, label: str | None = None) -> list[VersionStatus]:
        """Returns the states of a model's versions, the newest first.

        Raises:
            RequestError: 404 for an unknown model, label or version.
        """
        with self._changed:
            source = self._source(name)
            if label is not None:
                version = self._labelled(source, label)
            statuses = self._statuses[name]
        if version is None:
            return [statuses[each] for each in sorted(statuses, reverse=True)]
        if version not in statuses:
            raise RequestError(f"{name} has no version {version}; {_versions(statuses)}", 404, "version")
        return [statuses[version]]

    def reload(self, sources: Sequence[ModelSource] | None = None) -> None:
        """Loads the versions that are wanted and not there, and then lets go of those that are not wanted.

        A version that cannot be loaded is not taken, its status says why, and what is served stays. One in
        use is let go once its requests are answered, which nothing else waits for.

        Args:
            sources: The models from now on; None for those that are served.

        Raises:
            NoModelError: if a model has no version, once the others have been looked at.
        """
        with self._reloading:
            if sources is not None:
                with self._changed:
                    self._sources = {each.name: each for each in sources}
                    for each in sources:
                        self._held.setdefault(each.name, {})
                        self._statuses.setdefault(each.name, {})
            failures: list[Exception] = []
            for source in list(self._sources.values()):
                try:
                    self._reload_one(source)
                except Exception as error:
                    failures.append(error)
            for name in [each for each in self._held if each not in self._sources]:
                self._let_go(name, list(self._held[name]))
                with self._changed:
                    del self._held[name], self._statuses[name]
            if failures:
                raise failures[0]

    def close(self) -> None:
        """Answers what was taken, and frees all models."""
        self.reload([])
        for each in self._leaving:
            each.join()

    def _reload_one(self, source: ModelSource) -> None:
        name = source.name
        try:
            wanted = source.wanted()
        except NoModelError:
            # A folder that is away for a moment takes no model away.
            if self._held[name]:
                return
            raise
        for version, path in wanted.items():
            # One that failed is tried again once its files are others: it may have been half-written.
            if version in self._held[name] or self._failed.get((name, version)) == _stamps(path):
                continue
            stamps = _stamps(path)
            self._set(name, VersionStatus(version, "LOADING"))
            try:
                loaded = ModelVersion(name, version, path, self._settings, self._metrics)
            except Exception as error:
                self._failed[name, version] = stamps
                self._set(name, VersionStatus(version, "END", 2, _sentence(path, error)))
                continue
            with self._changed:
                self._held[name][version] = _Held(loaded)
            self._set(name, VersionStatus(version, "AVAILABLE"))
        if any(version in self._held[name] for version in wanted):
            self._let_go(name, [version for version in self._held[name] if version not in wanted])

    def _let_go(self, name: str, versions: Sequence[int]) -> None:
        for version in versions:
            self._set(name, VersionStatus(version, "UNLOADING"))
            with self._changed:
                held = self._held[name].pop(version)
            # A client that reads slowly keeps no other version from being taken.
            ending = threading.Thread(target=self._end, args=(held,), daemon=True)
            ending.start()
            if not held.leases:
                ending.join()
            self._leaving = [each for each in (*self._leaving, ending) if each.is_alive()]

    def _end(self, held: _Held) -> None:
        with self._changed:
            # Requests that hold it are answered first.
            while held.leases:
                self._changed.wait()
        name, version = held.version.name, held.version.version
        held.version.close()
        # Graphs of TensorFlow are in circles of references, and hold their memory until those are found.
        gc.collect()
        status = self._statuses.get(name, {}).get(version)
        # It may have been loaded again meanwhile.
        if status is not None and status.state == "UNLOADING":
            self._set(name, VersionStatus(version, "END"))

    def _set(self, name: str, status: VersionStatus) -> None:
        level = logging.ERROR if status.error_code else logging.INFO
        log("version", level, model=name, **status._asdict())
        with self._changed:
            # A model that is not served any more has none.
            if name in self._statuses:
                self._statuses[name] = {**self._statuses[name], status.version: status}

    def _source(self, name: str) -> ModelSource:
        if name not in self._sources:
            raise RequestError(f"there is no model {name}; {suggest(name, self._sources)}", 404, "model")
        return self._sources[name]

    def _labelled(self, source: ModelSource, label: str) -> int:
        if label not in source.labels:
            hint = suggest(label, source.labels) if source.labels else "it has no labels"
            raise RequestError(f"{source.name} has no label {label}; {hint}", 404, "label")
        return source.labels[label]

    def _find(self, name: str, version: int | None, label: str | None) -> _Held:
        source = self._source(name)
        if label is not None:
            version = self._labelled(source, label)
        held = self._held[name]
        if not held:
            raise RequestError(f"{name} is not loaded yet", 503, "model")
        if version is None:
            return held[max(held)]
        if version not in held:
            raise RequestError(f"{name} has no version {version}; {_versions(held)}", 404, "version")
        return held[version]


def _stamps(path: str) -> list[Any]:
    """Returns what changes when a file below a folder does."""
    files = storage.files_below(path)
    return [(each, *storage.stamp_of(os.path.join(path, each))) for each in files]


def _sentence(path: str, error: Exception) -> str:
    """Returns an error of loading in a line with the path, as TensorFlow's are longer."""
    line = str(error).split("\n")[0].strip() or type(error).__name__
    return line if path in line else f"{path}: {line}"


def _versions(known: Mapping[int, Any]) -> str:
    return f"it has {', '.join(map(str, sorted(known, reverse=True)))}"


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
