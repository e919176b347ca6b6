"""The models of a server, whose versions are loaded, leased and let go."""

import contextlib
import gc
import logging
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from firth.recipes.base.errors import suggest
from firth.serving.exported_model import NoModelError, digest_of_files
from firth.serving.server.announcements import ServedVersion
from firth.serving.server.errors import RequestError
from firth.serving.server.logs import log
from firth.serving.server.metrics import Metrics
from firth.serving.server.settings import ServerSettings
from firth.serving.server.sources import ModelSource, VersionStatus
from firth.serving.server.versions import ModelVersion


class _Held:
    """A version and the number of requests that use it."""

    def __init__(self, version: ModelVersion, digest: str) -> None:
        self.version, self.digest, self.leases = version, digest, 0


class Models:
    """The models of a server by name, each with its loaded versions.

    Args:
        sources: The models.
        settings: Settings of the server.
        metrics: Counts of the server; None makes new ones.

    Attributes:
        on_reloaded: Function that is called after each look for versions.

    Raises:
        NoModelError: if a model has no version.
        ValueError: if a model cannot be loaded.
    """

    def __init__(
        self, sources: Sequence[ModelSource], settings: ServerSettings, metrics: Metrics | None = None
    ) -> None:
        self._settings, self._metrics = settings, Metrics() if metrics is None else metrics
        self._metrics.watch(self._queues)
        self.on_reloaded: Callable[[], object] = lambda: None
        self._changed = threading.Condition()
        self._reloading = threading.Lock()
        self._held: dict[str, dict[int, _Held]] = {}
        self._statuses: dict[str, dict[int, VersionStatus]] = {}
        self._sources: dict[str, ModelSource] = {}
        # Digest of the files of each version that could not be loaded, as they were then.
        self._failed: dict[tuple[str, int], str] = {}
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

    @property
    def loaded(self) -> list[ServedVersion]:
        """Versions that are loaded, with their folders."""
        with self._changed:
            held = [each for versions in self._held.values() for each in versions.values()]
        return [
            ServedVersion(
                each.version.name, each.version.version, os.path.abspath(each.version.path), each.digest
            )
            for each in held
        ]

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
            self.on_reloaded()
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
            if version in self._held[name] or self._failed.get((name, version)) == digest_of_files(path):
                continue
            digest = digest_of_files(path)
            self._set(name, VersionStatus(version, "LOADING"))
            try:
                loaded = source.load(version, path, self._settings, self._metrics)
            except Exception as error:
                self._failed[name, version] = digest
                self._set(name, VersionStatus(version, "END", 2, _sentence(path, error)))
                continue
            with self._changed:
                self._held[name][version] = _Held(loaded, digest)
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


def _sentence(path: str, error: Exception) -> str:
    """Returns an error of loading in a line with the path, as TensorFlow's are longer."""
    line = str(error).split("\n")[0].strip() or type(error).__name__
    return line if path in line else f"{path}: {line}"


def _versions(known: Mapping[int, Any]) -> str:
    return f"it has {', '.join(map(str, sorted(known, reverse=True)))}"
