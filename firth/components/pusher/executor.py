"""The work of Pusher: TFX's, into a folder next to the version's, and then a rename."""

import os

from tfx.components.pusher import executor
from tfx.proto import pusher_pb2
from tfx.types import artifact_utils
from tfx.types.standard_component_specs import PUSH_DESTINATION_KEY, PUSHED_MODEL_KEY
from tfx.utils import proto_utils

from firth import storage
from firth.components.execution import Artifacts, Properties

# Within the folder of versions, where servers read only folders that are numbers.
UNFINISHED = ".unfinished"
# As TFX stamps the artifact.
_PUSHED, _DESTINATION, _VERSION = "pushed", "pushed_destination", "pushed_version"


class Executor(executor.Executor):
    """Pushes a model in one step, on local disks."""

    def Do(self, input_dict: Artifacts, output_dict: Artifacts, exec_properties: Properties) -> None:
        """Writes a version if the model is blessed.

        Args:
            input_dict: `model`, `model_blessing` and `infra_blessing`.
            output_dict: `pushed_model`.
            exec_properties: `push_destination`, as JSON.
        """
        destination = pusher_pb2.PushDestination()
        proto_utils.json_to_proto(exec_properties[PUSH_DESTINATION_KEY], destination)
        versions = destination.filesystem.base_directory
        if not storage.is_local(versions):
            # An object store renames file by file, in any order; TFX copies what servers look for last.
            super().Do(input_dict, output_dict, exec_properties)
            return
        unfinished = os.path.join(versions, UNFINISHED)
        destination.filesystem.base_directory = unfinished
        aside = {**exec_properties, PUSH_DESTINATION_KEY: proto_utils.proto_to_json(destination)}
        storage.remove(unfinished)
        try:
            super().Do(input_dict, output_dict, aside)
            pushed = artifact_utils.get_single_instance(output_dict[PUSHED_MODEL_KEY])
            if pushed.get_int_custom_property(_PUSHED):
                version = pushed.get_string_custom_property(_VERSION)
                storage.move(os.path.join(unfinished, version), os.path.join(versions, version))
                pushed.set_string_custom_property(_DESTINATION, os.path.join(versions, version))
        finally:
            storage.remove(unfinished)
