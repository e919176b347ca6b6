"""The component ServingValidator."""

import functools
import logging
import os
from collections.abc import Iterator
from typing import Any

import tensorflow as tf
from tfx import types
from tfx.dsl.components.base import base_executor
from tfx.types import artifact_utils, standard_artifacts
from tfx.utils import io_utils

from firth import storage
from firth.components.artifact_folders import model_folder
from firth.components.artifacts import ServingReport
from firth.components.declaration import Artifacts, Component, Properties, declare, only_artifact
from firth.corpus.io.records import read_records
from firth.serving import shared_client, validate_serving
from firth.serving.exported_model import read_description
from firth.serving.task_signatures.served_score import served_score
from firth.serving.validation import TOLERANCES
from firth.tasks.labelled.examples import from_example

logger = logging.getLogger(__name__)

REPORT_FILE = "serving_report.json"
EVAL_SPLIT = "eval"

# As TFX's InfraValidator stamps it and its Pusher reads it.
BLESSED_PROPERTY = "blessed"
BLESSING_FILES = {True: "INFRA_BLESSED", False: "INFRA_NOT_BLESSED"}


class Executor(base_executor.BaseExecutor):
    """Validates one model."""

    def Do(self, input_dict: Artifacts, output_dict: Artifacts, exec_properties: Properties) -> None:
        """Writes `serving_report.json` and the blessing. It raises no error for a model that fails."""
        model = only_artifact(input_dict, "model")
        directory = model_folder(model)
        rows = _first_rows(input_dict.get("examples"), exec_properties["eval_rows"])
        report = validate_serving(directory, rows)
        # A model that cannot be loaded has no signature to compute scores with.
        if report["blessed"] and (found := _held_out(directory, input_dict)) is not None:
            reasons = [found["reason"]] if found["reason"] else []
            report = {**report, "held_out": found, "blessed": not reasons, "reasons": reasons}
        if not _passed_infra(input_dict.get("infra_blessing")):
            reason = "TensorFlow Serving in a container did not load it, or did not answer (InfraValidator)"
            report = {**report, "blessed": False, "reasons": [*report["reasons"], reason]}
        for reason in report["reasons"]:
            logger.error("The model at %s cannot be served. %s", directory, reason)
        folder = artifact_utils.get_single_uri(output_dict["report"])
        storage.write_json(os.path.join(folder, REPORT_FILE), report)
        blessing = artifact_utils.get_single_instance(output_dict["blessing"])
        storage.write_text(os.path.join(blessing.uri, BLESSING_FILES[report["blessed"]]), "")
        blessing.set_int_custom_property(BLESSED_PROPERTY, int(report["blessed"]))


def _passed_infra(blessing: list[types.Artifact] | None) -> bool:
    return not blessing or blessing[0].get_int_custom_property(BLESSED_PROPERTY) == 1


def _held_out(directory: str, input_dict: Artifacts) -> dict[str, Any] | None:
    """Returns the headline score by the task's signature and by rows; None where there are no records."""
    if not (input_dict.get("records") and input_dict.get("examples")):
        return None
    rows, records = (
        functools.partial(
            _read_all, artifact_utils.get_split_uri([only_artifact(input_dict, name)], EVAL_SPLIT)
        )
        for name in ("examples", "records")
    )
    near = TOLERANCES[read_description(directory)["recipe"]["training"]["precision"]]
    return served_score(shared_client(directory), lambda: map(from_example, records()), rows, near)


def _read_all(folder: str) -> Iterator[bytes]:
    for path in storage.glob(io_utils.all_files_pattern(folder)):
        yield from read_records(path)


def _first_rows(examples: types.Artifact, count: int) -> list[bytes]:
    if not examples:
        return []
    pattern = io_utils.all_files_pattern(artifact_utils.get_split_uri(examples, EVAL_SPLIT))
    dataset = tf.data.TFRecordDataset(storage.glob(pattern), compression_type="GZIP")
    return list(dataset.take(count).as_numpy_iterator())


class ServingValidator(Component, executor=Executor):
    """Loads an exported model as TF Serving does and asks it normal, empty, huge and undecodable requests.

    It replaces TFX's InfraValidator on machines without containers: its blessing is of the same
    type, and Pusher reads it as `infra_blessing`. Where there is an InfraValidator too, a model has to pass
    both.

    Args:
        model: Model of the Trainer, exported by `firth.serving.export`.
        examples: Output of SequenceGen; rows of its eval split are requests to the signature `evaluate`.
            Without it, the model's warm-up rows are used.
        infra_blessing: Output of TFX's InfraValidator, if it tries the model in a container.
        records: Output of LabelledExampleGen, of which `examples` were made. The headline score of the task
            is computed from the answers of its own signature to records of the eval split; a model that
            answers them otherwise than their rows are scored is not blessed. Nor is a model whose text ended
            under the schema of a task and is not valid by it.
        eval_rows: Number of rows in these requests.

    Outputs:
        report: `serving_report.json`, see `firth.serving.validate_serving`; `held_out` in it is what
            `firth.serving.task_signatures.served_score` returns.
        blessing: Custom property `blessed`, 1 or 0.
    """

    SPEC_CLASS = declare(
        inputs={"model": standard_artifacts.Model},
        optional_inputs={
            "examples": standard_artifacts.Examples,
            "infra_blessing": standard_artifacts.InfraBlessing,
            "records": standard_artifacts.Examples,
        },
        outputs={"report": ServingReport, "blessing": standard_artifacts.InfraBlessing},
        parameters={"eval_rows": int},
    )

    def __init__(
        self,
        model: types.BaseChannel,
        examples: types.BaseChannel | None = None,
        eval_rows: int = 8,
        infra_blessing: types.BaseChannel | None = None,
        records: types.BaseChannel | None = None,
    ) -> None:
        super().__init__(
            model=model,
            examples=examples,
            infra_blessing=infra_blessing,
            records=records,
            eval_rows=eval_rows,
        )
