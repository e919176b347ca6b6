"""The declaration of CorpusExporter."""

from collections.abc import Sequence

from tfx import types
from tfx.dsl.components.base import executor_spec
from tfx.types import standard_artifacts

from firth.components.artifacts import CorpusReport, ExportedCorpus
from firth.components.corpus_exporter.executor import Executor
from firth.components.declaration import BeamComponent, declare
from firth.recipes import Recipe
from firth.recipes.corpus.outputs import AnyOutput, outputs_to_json
from firth.recipes.corpus.sources_json import sources_to_json


class CorpusExporter(BeamComponent):
    """Writes the documents of all splits in the formats of the recipe.

    Args:
        examples: Output of Curator.
        report: Output of Curator.
        outputs: The formats.
        recipe: Recipe with the newest spans of its sources, of which the datasheet names the sources and a
            digest.
        fingerprint: Digest of the files of the sources.

    Outputs:
        corpus: A folder for each format, see `firth.corpus.write_outputs`; `outputs.json`; and a datasheet,
            `datasheet.json` and `README.md`.
    """

    SPEC_CLASS = declare(
        inputs={"documents": standard_artifacts.Examples, "report": CorpusReport},
        outputs={"corpus": ExportedCorpus},
        parameters={"outputs": str, "name": str, "sources": str, "cleaning": str, "fingerprint": str},
    )
    EXECUTOR_SPEC = executor_spec.BeamExecutorSpec(Executor)

    def __init__(
        self,
        examples: types.BaseChannel,
        report: types.BaseChannel,
        outputs: Sequence[AnyOutput],
        recipe: Recipe,
        fingerprint: str,
    ) -> None:
        super().__init__(
            documents=examples,
            report=report,
            outputs=outputs_to_json(outputs),
            name=recipe.name,
            sources=sources_to_json(recipe.sources),
            cleaning=recipe.cleaning.without_limits().to_json(),
            fingerprint=fingerprint,
        )
