"""The component Pusher: a version appears in one step, under a number that does not depend on the clock."""

import errno
import os

from tfx.components import Pusher as TfxPusher
from tfx.components.pusher import executor
from tfx.dsl.components.base import executor_spec
from tfx.proto import pusher_pb2
from tfx.types import artifact_utils
from tfx.types.standard_component_specs import PUSH_DESTINATION_KEY, PUSHED_MODEL_KEY
from tfx.utils import proto_utils

from firth import storage
from firth.components.declaration import Artifacts, Properties
from firth.serving.exported_model import SAVED_MODEL, next_version

# Within the folder of versions, where servers read only folders that are numbers.
UNFINISHED = ".unfinished"
# In the artifact, before the version is there: which one a Pusher that is killed may have written.
VERSION_FILE = "pushed_version.json"
# As TFX stamps the artifact.
_PUSHED, _DESTINATION, _VERSION = "pushed", "pushed_destination", "pushed_version"
_TAKEN = (errno.EEXIST, errno.ENOTEMPTY)


class Executor(executor.Executor):
    """Pushes a model under the number after the highest version, on local disks in one step."""

    def Do(self, input_dict: Artifacts, output_dict: Artifacts, exec_properties: Properties) -> None:
        """Writes a version if the model is blessed."""
        destination = pusher_pb2.PushDestination()
        proto_utils.json_to_proto(exec_properties[PUSH_DESTINATION_KEY], destination)
        versions = destination.filesystem.base_directory
        pushed = artifact_utils.get_single_instance(output_dict[PUSHED_MODEL_KEY])
        if not self.CheckBlessing(input_dict):
            pushed.set_int_custom_property(_PUSHED, 0)
            return
        model = self.GetModelPath(input_dict)
        _copy(model, pushed.uri)
        push = _in_one_step if storage.is_local(versions) else _model_last
        version = push(model, versions, os.path.join(pushed.uri, VERSION_FILE))
        pushed.set_int_custom_property(_PUSHED, 1)
        pushed.set_string_custom_property(_DESTINATION, os.path.join(versions, version))
        pushed.set_string_custom_property(_VERSION, version)


def _in_one_step(model: str, versions: str, kept: str) -> str:
    """Copies a model to a folder next to the version's, renames that, and returns the version."""
    unfinished = os.path.join(versions, UNFINISHED)
    storage.remove(unfinished)
    try:
        _copy(model, unfinished)
        while True:
            version = _chosen(versions, kept)
            try:
                storage.move(unfinished, os.path.join(versions, version))
            except OSError as error:
                # Another Pusher was faster.
                if error.errno not in _TAKEN:
                    raise
            else:
                return version
    finally:
        storage.remove(unfinished)


def _model_last(model: str, versions: str, kept: str) -> str:
    """Copies a model to a version, and returns it; an object store renames file by file, in any order."""
    version = _chosen(versions, kept)
    _copy(model, os.path.join(versions, version))
    return version


def _chosen(versions: str, kept: str) -> str:
    version = next_version(versions)
    storage.write_json(kept, {"version": version})
    return version


def _copy(model: str, target: str) -> None:
    """Copies a model, and last the file by which servers see that there is one."""
    for name in sorted(storage.files_below(model), key=SAVED_MODEL.__eq__):
        storage.copy_file(os.path.join(model, name), os.path.join(target, name))


class Pusher(TfxPusher):
    """TFX's Pusher with two differences: versions are counted, and appear when they are whole.

    TFX takes the time as the version, so that after a clock that was ahead every later model is older. Here
    it is the number after the highest version. TFX copies a model file by file into the version's folder;
    after a kill or on a full disk, half of it is left there, which servers and `firth predict` take for the
    newest version.
    """

    EXECUTOR_SPEC = executor_spec.ExecutorClassSpec(Executor)
