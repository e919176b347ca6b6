"""The work of CorpusValidator: measures and writes the limited quantities, and fails if a limit is broken."""

import logging
import os

from tfx.dsl.components.base import base_executor
from tfx.types import artifact_utils

from firth.components.execution import Artifacts, Properties
from firth.components.kept_files import keep_files
from firth.corpus import CorpusLimitsError, check_limits, measure_limits
from firth.corpus.curation.curate import REPORT_FILE
from firth.recipes.corpus.limits import CorpusLimits
from firth.storage import read_json, write_json

MEASURED_FILE = "measured_limits.json"
WARNINGS_FILE = "warnings.json"


class Executor(base_executor.BaseExecutor):
    """Validates one corpus."""

    def Do(self, input_dict: Artifacts, output_dict: Artifacts, exec_properties: Properties) -> None:
        """Writes `measured_limits.json`, and `warnings.json`, a list of sentences.

        Args:
            input_dict: `report`.
            output_dict: `measured`.
            exec_properties: `limits` as JSON.

        Raises:
            firth.corpus.CorpusLimitsError: if a limit is broken.
        """
        report_path = os.path.join(artifact_utils.get_single_uri(input_dict["report"]), REPORT_FILE)
        limits = CorpusLimits.from_json(exec_properties["limits"])
        report = read_json(report_path)
        measured = measure_limits(report, limits)
        folder = artifact_utils.get_single_uri(output_dict["measured"])
        write_json(os.path.join(folder, MEASURED_FILE), [each._asdict() for each in measured])
        warnings = [warning] if (warning := report.get("held_out", {}).get("warning")) else []
        write_json(os.path.join(folder, WARNINGS_FILE), warnings)
        for warning in warnings:
            logging.warning(warning)
        try:
            check_limits(measured, report_path)
        except CorpusLimitsError:
            keep_files(folder, MEASURED_FILE, WARNINGS_FILE)
            raise
