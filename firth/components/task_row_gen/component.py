"""The declaration of TaskRowGen."""

from tfx import types
from tfx.types import standard_artifacts

from firth import features
from firth.components.declaration import Component, declare
from firth.components.task_row_gen.executor import Executor
from firth.recipes.tasks.task import Task
from firth.recipes.tokenizers.tokenizer import Sequences


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
            to the splits stand `tokenizer/`, a copy of the tokenizer, and `report.json`; see
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
