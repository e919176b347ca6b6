"""Places of the versions of a model on disk, and their states."""

import dataclasses
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from firth import storage
from firth.generation.engines import engine_of
from firth.recipes.reading.bundles import locate_bundle
from firth.serving.exported_model import SAVED_MODEL, NoModelError, is_version

if TYPE_CHECKING:
    from firth.serving.server.metrics import Metrics
    from firth.serving.server.settings import ServerSettings
    from firth.serving.server.versions import ModelVersion

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


@dataclasses.dataclass(frozen=True)
class ModelSource:
    """A model and where its versions are.

    Attributes:
        name: Name in requests.
        path: Folder of a SavedModel, or a serving directory with a folder for each version.
        versions: Versions that are served; empty for the newest ones.
        newest: Number of the newest versions that are served where `versions` is empty; 0 for all.
        labels: Versions by label, which are served too.
    """

    name: str
    path: str
    versions: Sequence[int] = ()
    newest: int = 1
    labels: Mapping[str, int] = dataclasses.field(default_factory=dict)

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
        newest = sorted(found)[-self.newest :]
        return {version: found[version] for version in found if version in {*newest, *self.labels.values()}}

    def load(self, version: int, path: str, settings: "ServerSettings", metrics: "Metrics") -> "ModelVersion":
        """Loads a version.

        Args:
            version: Number of the version.
            path: Its folder.
            settings: Settings of the server.
            metrics: Counts of batches and tokens.

        Raises:
            ValueError: if it cannot be served.
        """
        # TensorFlow takes seconds, and commands read the states without it.
        from firth.serving.server.saved_model_version import SavedModelVersion

        return SavedModelVersion(self.name, version, path, settings, metrics)


@dataclasses.dataclass(frozen=True)
class BundleSource(ModelSource):
    """The bundle of a run or of an imported model, or a folder of an engine's own, which the engine runs.

    Attributes:
        root: Folder of all runs, where `path` may be the name of one.
        engine: Name of the engine.
        options: Its options, such as `quantization`.
    """

    root: str = ""
    engine: str = ""
    options: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def wanted(self) -> dict[int, str]:
        """Returns the folder of the bundle, by the number of the model that its run has trained, or by 1.

        Raises:
            NoModelError: if there is no bundle.
        """
        try:
            is_own = engine_of(self.path) == self.engine
            path = self.path if is_own else locate_bundle(self.path, self.root)
        except ValueError as error:
            raise NoModelError(str(error)) from None
        trained = os.path.basename(os.path.dirname(path))
        found = {int(trained) if is_version(trained) else 1: path}
        return {version: path for version, path in found.items() if version in (self.versions or found)}

    def load(self, version: int, path: str, settings: "ServerSettings", metrics: "Metrics") -> "ModelVersion":
        """Loads a bundle; see the base."""
        from firth.serving.server.bundles.version import BundleVersion

        return BundleVersion(self.name, version, path, settings, metrics, self.engine, self.options)
