"""The work of CorpusExporter: calls `write_outputs`."""

import os
from collections import Counter

from tfx.dsl.components.base import base_beam_executor
from tfx.types import artifact_utils
from tfx.utils import io_utils

from firth import storage
from firth.components.execution import Artifacts, Properties
from firth.components.split_folders import split_folders
from firth.corpus import write_outputs
from firth.corpus.curation.curate import REPORT_FILE
from firth.recipes.corpus.outputs import outputs_from_json


class Executor(base_beam_executor.BaseBeamExecutor):
    """Exports one corpus."""

    def Do(self, input_dict: Artifacts, output_dict: Artifacts, exec_properties: Properties) -> None:
        """Writes a folder for each format, and `outputs.json`.

        Args:
            input_dict: `documents` and `report`.
            output_dict: `corpus`.
            exec_properties: `outputs` as JSON.

        Raises:
            firth.corpus.CountMismatchError: if the documents are not those that the report counts.
        """
        folders = split_folders(artifact_utils.get_single_instance(input_dict["documents"]))
        report = os.path.join(artifact_utils.get_single_uri(input_dict["report"]), REPORT_FILE)
        counts: Counter[str] = Counter()
        for row in storage.read_json(report)["splits"]:
            counts[row["split"]] += row["documents"]
        write_outputs(
            self._make_beam_pipeline,
            {split: io_utils.all_files_pattern(each) for split, each in folders.items()},
            outputs_from_json(exec_properties["outputs"]),
            artifact_utils.get_single_uri(output_dict["corpus"]),
            counts,
        )
