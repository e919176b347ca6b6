"""The work of CorpusValidator: measures what the limits bound, writes it, and fails if need be."""

import json
import os

from tfx.dsl.components.base import base_executor
from tfx.types import artifact_utils
from tfx.utils import io_utils

from firth.corpus import check_limits, measure_limits
from firth.corpus.curation import REPORT_FILE
from firth.corpus.json_files import read_json
from firth.recipes.limits import CorpusLimits

MEASURED_FILE = "measured_limits.json"


class Executor(base_executor.BaseExecutor):
    """Validates one corpus."""

    def Do(self, input_dict, output_dict, exec_properties) -> None:
        """Writes `measured_limits.json`.

        Args:
            input_dict: `report`.
            output_dict: `measured`.
            exec_properties: `limits` as JSON.

        Raises:
            firth.corpus.CorpusLimitsError: if a limit is broken.
        """
        self._log_startup(input_dict, output_dict, exec_properties)
        report_path = os.path.join(artifact_utils.get_single_uri(input_dict["report"]), REPORT_FILE)
        limits = CorpusLimits.from_json(exec_properties["limits"])
        measured = measure_limits(read_json(report_path), limits)
        path = os.path.join(artifact_utils.get_single_uri(output_dict["measured"]), MEASURED_FILE)
        io_utils.write_string_file(path, json.dumps([each._asdict() for each in measured], indent=2))
        check_limits(measured, report_path)
