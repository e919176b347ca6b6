"""The component TaskDataValidator."""

import dataclasses
import os
from collections.abc import Iterator

from tfx import types
from tfx.dsl.components.base import base_executor
from tfx.types import artifact_utils, standard_artifacts
from tfx.utils import io_utils

from firth import storage
from firth.components.anomaly_validator import anomalies_of, anomalies_text, statistics_of
from firth.components.artifact_folders import keep_files, keeping, split_folders
from firth.components.artifacts import RecordAnomalies
from firth.components.declaration import Artifacts, Component, Properties, declare, only_artifact
from firth.corpus.io.records import read_records
from firth.recipes.run.base import TOKENIZER_FOLDER
from firth.recipes.tasks.task import Task
from firth.recipes.tasks.tasks import task_from_json
from firth.recipes.tokenizers.tokenizer import Sequences
from firth.tasks.labelled.examples import from_example
from firth.tasks.labelled.validation import find_skew
from firth.tasks.readers.records import LabelledRecord
from firth.tasks.targets import TargetCounts, TargetsError, check_targets, count_targets
from firth.tokenizers import load_tokenizer

FOUND_FILE, SKEW_FILE, TARGETS_FILE = "anomalies.json", "skew.json", "targets.json"
_SPLITS = ("train", "eval")


class TaskDataError(ValueError):
    """Labelled records do not fit their task."""


class Executor(base_executor.BaseExecutor):
    """Validates the labelled records of one run."""

    def Do(self, input_dict: Artifacts, output_dict: Artifacts, exec_properties: Properties) -> None:
        """Writes `anomalies.json`, `skew.json` and `targets.json`.

        Raises:
            firth.tasks.targets.TargetsError: if the base cannot write the targets.
        """
        statistics = only_artifact(input_dict, "statistics")
        found = anomalies_of(only_artifact(input_dict, "anomalies"))
        folder = artifact_utils.get_single_uri(output_dict["found"])
        storage.write_json(os.path.join(folder, FOUND_FILE), found)
        skew = find_skew(*(statistics_of(statistics, split).datasets[0] for split in _SPLITS))
        storage.write_json(os.path.join(folder, SKEW_FILE), skew)
        counts = _targets(input_dict, exec_properties)
        by_split = {split: dataclasses.asdict(each) for split, each in counts.items()}
        storage.write_json(os.path.join(folder, TARGETS_FILE), by_split)
        if found:
            keep_files(folder, FOUND_FILE, SKEW_FILE, TARGETS_FILE)
            raise TaskDataError(
                f"the labelled records do not fit the task: {anomalies_text(found)}. Its schema is that of "
                "TaskSchemaGen"
            )
        if counts:
            with keeping(folder, FOUND_FILE, SKEW_FILE, TARGETS_FILE, errors=TargetsError):
                check_targets(counts[_SPLITS[0]], exec_properties["unknown_targets"])


def _targets(input_dict: Artifacts, exec_properties: Properties) -> dict[str, TargetCounts]:
    """Returns the counts of the targets by split; nothing for a task that writes no texts."""
    if not exec_properties["task"]:
        return {}
    task = task_from_json(exec_properties["task"])
    sequences = Sequences.from_json(exec_properties["sequences"])
    if not task.most_written(sequences)[1]:
        return {}
    base = only_artifact(input_dict, "base")
    tokenizer = load_tokenizer(os.path.join(base.uri, TOKENIZER_FOLDER))
    records = split_folders(only_artifact(input_dict, "records"))
    return {
        split: count_targets(task, sequences, tokenizer, _records(folder))
        for split, folder in records.items()
    }


def _records(folder: str) -> Iterator[LabelledRecord]:
    for path in storage.glob(io_utils.all_files_pattern(folder)):
        yield from (from_example(each)[0] for each in read_records(path))


class TaskDataValidator(Component, executor=Executor):
    """Fails if ExampleValidator found anomalies, or if the base cannot write the targets; reports how the two
    splits differ.

    The component after it names it: `rows.add_upstream_node(task_data_validator)`.

    Args:
        statistics: Output of StatisticsGen, of the splits `train` and `eval`.
        anomalies: Output of ExampleValidator, by the schema of the task.
        examples: Labelled records; with `base`, `task` and `sequences` for a task that writes texts.
        base: Model bundle whose tokenizer has to write the targets.
        task: Task of the recipe.
        sequences: Rows of the recipe.
        unknown_targets: Largest share of the pieces of the targets to train on that the vocabulary may lack.

    Outputs:
        found: `anomalies.json`, a list of objects of feature, anomaly and description; `skew.json`, a list of
            what `firth.tasks.labelled.validation.find_skew` returns; and `targets.json`, by split what
            `firth.tasks.targets.count_targets` returns, empty for a task that writes no texts.
    """

    SPEC_CLASS = declare(
        inputs={
            "statistics": standard_artifacts.ExampleStatistics,
            "anomalies": standard_artifacts.ExampleAnomalies,
        },
        optional_inputs={"records": standard_artifacts.Examples, "base": standard_artifacts.Model},
        outputs={"found": RecordAnomalies},
        parameters={"task": str, "sequences": str, "unknown_targets": float},
    )

    def __init__(
        self,
        statistics: types.BaseChannel,
        anomalies: types.BaseChannel,
        examples: types.BaseChannel | None = None,
        base: types.BaseChannel | None = None,
        task: Task | None = None,
        sequences: Sequences | None = None,
        unknown_targets: float = 1.0,
    ) -> None:
        reads = {} if examples is None or base is None else {"records": examples, "base": base}
        super().__init__(
            statistics=statistics,
            anomalies=anomalies,
            **reads,
            task=task.to_json() if task and reads else "",
            sequences=sequences.to_json() if sequences and reads else "",
            unknown_targets=unknown_targets,
        )
