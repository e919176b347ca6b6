"""The work of CorpusExampleGen: TFX's ExampleGen protocol around `ReadSources`."""

import apache_beam as beam
from tfx.components.example_gen.base_example_gen_executor import BaseExampleGenExecutor
from tfx.types import artifact_utils

from firth.corpus import ReadSources, WriteRecords, check_sources
from firth.recipes.privacy import PiiStep
from firth.recipes.sources_json import sources_from_json

SPLIT = "corpus"
_FOLDER = "artifact_folder"
_EXAMPLES = "examples"


class Executor(BaseExampleGenExecutor):
    """Reads the sources and writes their documents."""

    def GetInputSourceToExamplePTransform(self) -> beam.PTransform:
        """Returns the transform that TFX applies to execution properties and the split's pattern."""
        return _read_sources

    def GenerateExamplesByBeam(self, pipeline, exec_properties) -> dict[str, beam.PCollection]:
        """Reads and writes; TFX, which would shuffle all documents before it writes them, gets none."""
        folder = artifact_utils.get_split_uri(exec_properties[_EXAMPLES], SPLIT)
        documents = pipeline | "Read" >> _read_sources(exec_properties, "")
        _ = documents | "Write" >> WriteRecords(folder)
        return {}

    def Do(self, input_dict, output_dict, exec_properties) -> None:
        """Writes the documents, the rejected records and the counts.

        Args:
            input_dict: Empty.
            output_dict: `examples`.
            exec_properties: `sources` and `privacy` as JSON, and those of TFX's ExampleGen executors.

        Raises:
            firth.corpus.SourceError: if a source has no document.
        """
        folder = artifact_utils.get_single_uri(output_dict["examples"])
        super().Do(
            input_dict, output_dict, {**exec_properties, _FOLDER: folder, _EXAMPLES: output_dict["examples"]}
        )
        check_sources(folder)


def _read_sources(exec_properties: dict, split_pattern: str) -> beam.PTransform:
    del split_pattern  # What to read stands in the sources.
    sources = sources_from_json(exec_properties["sources"])
    return ReadSources(sources, exec_properties[_FOLDER], PiiStep.from_json(exec_properties["privacy"]))
