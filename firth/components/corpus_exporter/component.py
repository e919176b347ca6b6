"""The declaration of CorpusExporter."""

from collections.abc import Sequence

from tfx import types
from tfx.dsl.components.base import executor_spec
from tfx.types import standard_artifacts

from firth.components.artifacts import CorpusReport, ExportedCorpus
from firth.components.corpus_exporter.executor import Executor
from firth.components.declaration import BeamComponent, declare
from firth.recipes.corpus.outputs import AnyOutput, outputs_to_json


class CorpusExporter(BeamComponent):
    """Writes the documents of all splits in the formats of the recipe.

    Args:
        examples: Output of Curator.
        report: Output of Curator.
        outputs: The formats.

    Outputs:
        corpus: A folder for each format, see `firth.corpus.write_outputs`, and `outputs.json`.
    """

    SPEC_CLASS = declare(
        inputs={"documents": standard_artifacts.Examples, "report": CorpusReport},
        outputs={"corpus": ExportedCorpus},
        parameters={"outputs": str},
    )
    EXECUTOR_SPEC = executor_spec.BeamExecutorSpec(Executor)

    def __init__(
        self, examples: types.BaseChannel, report: types.BaseChannel, outputs: Sequence[AnyOutput]
    ) -> None:
        super().__init__(documents=examples, report=report, outputs=outputs_to_json(outputs))
