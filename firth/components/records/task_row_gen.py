"""The component TaskRowGen."""

import os

from tfx import types
from tfx.dsl.components.base import base_executor
from tfx.types import artifact_utils, standard_artifacts

from firth import features
from firth.components.artifact_folders import keeping, split_folders, split_patterns, stamp_splits
from firth.components.declaration import Artifacts, Component, Properties, declare, only_artifact
from firth.corpus.decontamination.evidence import read_evidence
from firth.recipes.reading.bundles import check_digest
from firth.recipes.run.base import TOKENIZER_FOLDER
from firth.recipes.tasks.task import Task
from firth.recipes.tasks.tasks import task_from_json
from firth.recipes.tokenizers.tokenizer import Sequences
from firth.tasks.task_rows import REPORT_FILE, TaskRowsError, make_task_rows
from firth.tokenizers.storage import copy_tokenizer


class Executor(base_executor.BaseExecutor):
    """Makes the rows of all splits."""

    def Do(self, input_dict: Artifacts, output_dict: Artifacts, exec_properties: Properties) -> None:
        """Writes the rows, a copy of the tokenizer and the report.

        Raises:
            firth.recipes.reading.bundles.NoBundleError: if another bundle is at the path of the base.
            firth.tasks.task_rows.TaskRowsError: if a split has no rows, or a record is in it twice.
            firth.tokenizers.TokenizerMismatchError: if the bundle's tokenizer is damaged.
        """
        patterns = split_patterns(input_dict["records"])
        base = only_artifact(input_dict, "base")
        examples = artifact_utils.get_single_instance(output_dict["examples"])
        if digest := base.get_string_custom_property("digest"):
            # Hours may have passed since the recipe was read.
            check_digest(base.uri, digest)
        folder = os.path.join(examples.uri, TOKENIZER_FOLDER)
        task = task_from_json(exec_properties["task"])
        tokenizer = copy_tokenizer(os.path.join(base.uri, TOKENIZER_FOLDER), folder, task)
        stamp_splits(examples, patterns)
        with keeping(examples.uri, REPORT_FILE, errors=TaskRowsError):
            make_task_rows(
                patterns,
                task,
                Sequences.from_json(exec_properties["sequences"]),
                tokenizer,
                split_folders(examples),
                examples.uri,
                read_evidence(base.uri),
            )
        examples.set_string_custom_property("tokenizer_digest", tokenizer.digest)


class TaskRowGen(Component, executor=Executor):
    """Tokenizes labelled records and packs them into rows, always in the same way.

    A row holds several whole records, so that little of a batch is padding whatever their lengths are.

    Args:
        examples: Labelled records, as `firth.tasks.labelled.examples` writes them.
        base: Model bundle whose tokenizer reads the records. Custom property, if there is one: `digest`.
        task: Task of the recipe.
        sequences: Rows of the recipe.

    Outputs:
        examples: Rows as `task.row_specs` describes them, with `source`, in the splits of the records. Next
            to the splits are `tokenizer/`, a copy of the tokenizer, and `report.json`; see
            `firth.tasks.task_rows`. Records of `eval` that the base's corpora were found to hold are marked.
            Custom property: `tokenizer_digest`.
    """

    SPEC_CLASS = declare(
        inputs={"records": standard_artifacts.Examples, "base": standard_artifacts.Model},
        outputs={"examples": standard_artifacts.Examples},
        parameters={"task": str, "sequences": str, "row_format": int},
    )

    def __init__(
        self, examples: types.BaseChannel, base: types.BaseChannel, task: Task, sequences: Sequences
    ) -> None:
        super().__init__(
            records=examples,
            base=base,
            task=task.to_json(),
            sequences=sequences.to_json(),
            row_format=features.ROW_FORMAT,
        )
