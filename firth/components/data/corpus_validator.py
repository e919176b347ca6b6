"""The component CorpusValidator."""

import logging
import os
from typing import Any

from tfx import types
from tfx.dsl.components.base import base_executor
from tfx.types import artifact_utils
from tfx.types.artifact import Artifact

from firth.components.artifact_folders import keep_files
from firth.components.artifacts import CorpusReport, MeasuredLimits
from firth.components.declaration import Artifacts, Component, Properties, declare
from firth.corpus import CorpusLimitsError, check_limits, measure_limits
from firth.corpus.curation.curate import REPORT_FILE
from firth.corpus.report.limits import ShareChange, check_changes, measure_changes, report_warnings
from firth.recipes.corpus.cleaning import CorpusLimits
from firth.recipes.run.validation import CorpusValidation
from firth.storage import read_json, write_json

MEASURED_FILE = "measured_limits.json"
SHARES_FILE = "shares.json"
WARNINGS_FILE = "warnings.json"


class Executor(base_executor.BaseExecutor):
    """Validates one corpus."""

    def Do(self, input_dict: Artifacts, output_dict: Artifacts, exec_properties: Properties) -> None:
        """Writes `measured_limits.json`, `shares.json`, and `warnings.json`, a list of sentences.

        Raises:
            firth.corpus.CorpusLimitsError: if a limit is broken, or a share moved too far and the recipe says
                `on_anomaly: stop`.
        """
        report_path = _report_of(input_dict["report"])
        limits = CorpusLimits.from_json(exec_properties["limits"])
        report = read_json(report_path)
        measured = measure_limits(report, limits)
        folder = artifact_utils.get_single_uri(output_dict["measured"])
        write_json(os.path.join(folder, MEASURED_FILE), [each._asdict() for each in measured])
        validation = CorpusValidation.from_json(exec_properties["validation"])
        changes = _changes(report, input_dict.get("previous_report"), validation)
        write_json(os.path.join(folder, SHARES_FILE), [each._asdict() for each in changes])
        warnings = report_warnings(report)
        write_json(os.path.join(folder, WARNINGS_FILE), warnings)
        for warning in warnings:
            logging.warning(warning)
        try:
            check_limits(measured, report_path)
            _check(changes, validation.stops and not input_dict.get("taken_report"))
        except CorpusLimitsError:
            keep_files(folder, MEASURED_FILE, SHARES_FILE, WARNINGS_FILE)
            raise


def _report_of(artifacts: list[Artifact]) -> str:
    return os.path.join(artifact_utils.get_single_uri(artifacts), REPORT_FILE)


def _changes(
    report: dict[str, Any], previous: list[Artifact] | None, validation: CorpusValidation
) -> list[ShareChange]:
    """Returns how far shares moved; nothing if there was no run before."""
    if not previous:
        return []
    bounds = {str(of): most for of, most in validation.shares.items()}
    return measure_changes(report, read_json(_report_of(previous)), bounds)


def _check(changes: list[ShareChange], is_gate: bool) -> None:
    try:
        check_changes(changes)
    except CorpusLimitsError as error:
        if is_gate:
            raise
        logging.warning(str(error))


class CorpusValidator(Component, executor=Executor):
    """Checks a corpus report against limits, and against the report of an earlier run.

    It fails if a limit is broken, so that a component after it (`tokenizer.add_upstream_node(validator)`)
    does not start. Curator's report stays.

    Args:
        report: Output of Curator.
        limits: Limits of the recipe.
        validation: How far shares may move from those of an earlier run; by default, any way.
        **channels: `previous_report`, of an earlier run; and `taken_report`, the same as `report` if an
            earlier run has taken this corpus under `on_anomaly: report`. Either may be left out.

    Outputs:
        measured: `measured_limits.json`, see `firth.corpus.measure_limits`, and `shares.json`, see
            `firth.corpus.report.limits.measure_changes`.
    """

    SPEC_CLASS = declare(
        inputs={"report": CorpusReport},
        optional_inputs={"previous_report": CorpusReport, "taken_report": CorpusReport},
        outputs={"measured": MeasuredLimits},
        parameters={"limits": str, "validation": str},
    )

    def __init__(
        self,
        report: types.BaseChannel,
        limits: CorpusLimits,
        validation: CorpusValidation | None = None,
        **channels: types.BaseChannel,
    ) -> None:
        shares = (validation or CorpusValidation()).of_corpus
        super().__init__(report=report, limits=limits.to_json(), validation=shares.to_json(), **channels)
