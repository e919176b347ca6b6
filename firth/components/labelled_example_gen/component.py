"""The declaration of LabelledExampleGen."""

from tfx.types import standard_artifacts

from firth.components.declaration import Component, declare
from firth.components.labelled_example_gen.executor import Executor
from firth.recipes.tasks.data import AnyLabelledData
from firth.recipes.tasks.tasks import AnyTask
from firth.tasks.labelled.data import fingerprint as fingerprint_of


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
        examples: The records. Next to the splits stands `report.json`; see
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
