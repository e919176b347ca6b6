"""The work of LabelledExampleGen: reads the records, and writes them with their report."""

import os

from tfx.components.util import examples_utils
from tfx.dsl.components.base import base_executor
from tfx.proto import example_gen_pb2
from tfx.types import artifact_utils

from firth import storage
from firth.components.execution import Artifacts, Properties
from firth.corpus.io.record_files import write_records
from firth.recipes.tasks.data import labelled_data_from_json
from firth.recipes.tasks.tasks import task_from_json
from firth.tasks.labelled.data import read_labelled_data
from firth.tasks.labelled.examples import to_example

REPORT_FILE = "report.json"


class Executor(base_executor.BaseExecutor):
    """Reads the labelled data of one recipe."""

    def Do(self, input_dict: Artifacts, output_dict: Artifacts, exec_properties: Properties) -> None:
        """Writes the records by split, and `report.json`.

        Raises:
            ValueError: as `firth.tasks.labelled.data.read_labelled_data` does.
        """
        examples = artifact_utils.get_single_instance(output_dict["examples"])
        found = read_labelled_data(
            labelled_data_from_json(exec_properties["data"]), task_from_json(exec_properties["task"])
        )
        examples.split_names = artifact_utils.encode_split_names(list(found.splits))
        for name in found.splits:
            folder = artifact_utils.get_split_uri([examples], name)
            write_records(folder, 0, 1, (to_example(*each) for each in found.written(name)))
        storage.write_json(os.path.join(examples.uri, REPORT_FILE), found.report())
        examples_utils.set_payload_format(examples, example_gen_pb2.FORMAT_TF_EXAMPLE)
        examples.set_string_custom_property("source", found.source)
