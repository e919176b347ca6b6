"""The component LabelledExampleGen."""

import os

from tfx.dsl.components.base import base_executor
from tfx.types import artifact_utils, standard_artifacts

from firth import storage
from firth.components.artifact_folders import stamp_splits
from firth.components.declaration import Artifacts, Component, Properties, declare
from firth.corpus.io.records import write_records
from firth.recipes.tasks.data import AnyLabelledData, labelled_data_from_json
from firth.recipes.tasks.tasks import AnyTask, task_from_json
from firth.tasks.labelled.data import fingerprint as fingerprint_of, read_or_take
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
        found = read_or_take(
            labelled_data_from_json(exec_properties["data"]),
            task_from_json(exec_properties["task"]),
            exec_properties["fingerprint"],
        )
        stamp_splits(examples, found.splits)
        for name in found.splits:
            folder = artifact_utils.get_split_uri([examples], name)
            write_records(folder, 0, 1, (to_example(*each) for each in found.written(name)))
        storage.write_json(os.path.join(examples.uri, REPORT_FILE), found.report())
        examples.set_string_custom_property("source", found.source)


class LabelledExampleGen(Component, executor=Executor):
    """Reads a recipe's labelled data into tf.Examples of the splits `train` and `eval`.

    Each example is a record as `firth.tasks.labelled.examples.to_example` writes it. Records that cannot be
    read are rejected and counted; data that cannot be trained on are refused.

    Args:
        data: Labelled data of the recipe.
        task: Task of the recipe.
        fingerprint: Result of `firth.tasks.labelled.data.fingerprint(data)`, taken now if it is not given.
            The cached output is used again only while it stays the same.

    Outputs:
        examples: The records. Next to the splits is `report.json`; see
            `firth.tasks.labelled.data.LabelledData.report`. Custom property: `source`.

    Raises:
        ValueError: without a fingerprint, for an unknown format or split, or a file that is not there.
    """

    SPEC_CLASS = declare(
        outputs={"examples": standard_artifacts.Examples},
        parameters={"data": str, "task": str, "fingerprint": str},
    )

    def __init__(self, data: AnyLabelledData, task: AnyTask, fingerprint: str | None = None) -> None:
        super().__init__(
            data=data.to_json(),
            task=task.to_json(),
            fingerprint=fingerprint_of(data) if fingerprint is None else fingerprint,
        )
