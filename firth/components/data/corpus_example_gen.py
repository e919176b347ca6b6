"""The component CorpusExampleGen."""

import os
from collections.abc import Sequence
from typing import Any

import apache_beam as beam
from tfx.components.example_gen.base_example_gen_executor import BaseExampleGenExecutor
from tfx.proto import example_gen_pb2
from tfx.types import artifact_utils, standard_artifacts, standard_component_specs

from firth.components.artifact_folders import keep_files, stamp_splits
from firth.components.declaration import Artifacts, BeamComponent, Properties, declare
from firth.corpus import ReadSources, SourceError, WriteRecords, check_sources, fingerprint as fingerprint_of
from firth.corpus.readers.read_cache import remove_stale_entries
from firth.corpus.readers.read_sources import COUNTS_FILE, REJECTED_FILE
from firth.recipes.corpus.privacy import PiiStep
from firth.recipes.corpus.sources import AnySource
from firth.recipes.corpus.sources_json import sources_from_json, sources_to_json

SPLIT = "corpus"
_FOLDER = "artifact_folder"
_EXAMPLES = "examples"
_PROFILES = "profiles_folder"
_KEPT = "kept_folder"
_DROPPED_FILES = 16


class Executor(BaseExampleGenExecutor):
    """Reads the sources and writes their documents."""

    def GetInputSourceToExamplePTransform(self) -> beam.PTransform:
        """Returns the transform that TFX applies to execution properties and the split's pattern."""
        return _read_sources

    def GenerateExamplesByBeam(
        self, pipeline: beam.Pipeline, exec_properties: dict[str, Any]
    ) -> dict[str, beam.PCollection]:
        """Reads and writes; returns no collection to TFX, which would shuffle all documents before it writes
        them.
        """
        folder = artifact_utils.get_split_uri(exec_properties[_EXAMPLES], SPLIT)
        documents = pipeline | "Read" >> _read_sources(exec_properties, "")
        _ = documents | "Write" >> WriteRecords(folder)
        return {}

    def Do(self, input_dict: Artifacts, output_dict: Artifacts, exec_properties: Properties) -> None:
        """Writes the documents, the rejected records, the counts and the records' profiles.

        Raises:
            firth.corpus.SourceError: if a source has no document.
        """
        folder = artifact_utils.get_single_uri(output_dict["examples"])
        records = artifact_utils.get_single_instance(output_dict["records"])
        stamp_splits(records, [SPLIT])
        places = {
            _FOLDER: folder,
            _EXAMPLES: output_dict["examples"],
            _PROFILES: artifact_utils.get_split_uri([records], SPLIT),
            # Next to the artifacts of all runs, since it is for the next one.
            _KEPT: os.path.join(os.path.dirname(os.path.dirname(folder.rstrip("/"))), "read_files"),
        }
        super().Do(input_dict, output_dict, {**exec_properties, **places})
        try:
            check_sources(folder)
        except SourceError:
            # The same error, naming the copies.
            check_sources(keep_files(folder, REJECTED_FILE, COUNTS_FILE))
            raise
        remove_stale_entries(places[_KEPT], sources_from_json(exec_properties["sources"]))


def _read_sources(exec_properties: dict[str, Any], split_pattern: str) -> beam.PTransform:
    # The sources name the files, so the split's pattern has no use.
    sources = sources_from_json(exec_properties["sources"])
    privacy = PiiStep.from_json(exec_properties["privacy"])
    return ReadSources(
        sources,
        exec_properties[_FOLDER],
        privacy,
        exec_properties[_PROFILES],
        exec_properties[_KEPT],
        _DROPPED_FILES if exec_properties["list_dropped"] else 0,
    )


class CorpusExampleGen(BeamComponent, executor=Executor):
    """Reads a recipe's sources into tf.Examples of one split, `corpus`.

    Each example is a document with the bytes features `id`, `text`, `source`, `licence` and `uri`.

    Args:
        sources: Sources of the recipe.
        fingerprint: Result of `firth.corpus.fingerprint(sources)`, taken now if it is not given. The cached
            output is used again only while it stays the same.
        privacy: Step that replaces personal data in the excerpts of rejected records; all types, unless it is
            given.
        list_dropped: Whether the documents that samples leave out are listed.

    Outputs:
        examples: The documents. Next to the split are `rejected.jsonl`, the records that could not be read,
            `source_counts.json`, and with `list_dropped` the folder `dropped`, of Parquet files with the
            documents that samples leave out.
        records: What each record is (see `firth.corpus.readers.record_profiles`), read or rejected, without
            its text. Statistics are taken of these.

    Raises:
        firth.corpus.SourceError: without a fingerprint, if a pattern matches no file or a package is not
            installed.
    """

    # Four parameters of its own, and those of TFX's ExampleGen executors.
    SPEC_CLASS = declare(
        outputs={"examples": standard_artifacts.Examples, "records": standard_artifacts.Examples},
        parameters={
            "sources": str,
            "fingerprint": str,
            "privacy": str,
            "list_dropped": int,
            standard_component_specs.INPUT_CONFIG_KEY: example_gen_pb2.Input,
            standard_component_specs.OUTPUT_CONFIG_KEY: example_gen_pb2.Output,
            standard_component_specs.OUTPUT_DATA_FORMAT_KEY: int,
            standard_component_specs.OUTPUT_FILE_FORMAT_KEY: int,
        },
    )

    def __init__(
        self,
        sources: Sequence[AnySource],
        fingerprint: str | None = None,
        privacy: PiiStep | None = None,
        list_dropped: bool = False,
    ) -> None:
        split = example_gen_pb2.Input.Split(name=SPLIT, pattern="*")
        super().__init__(
            sources=sources_to_json(sources),
            fingerprint=fingerprint_of(sources) if fingerprint is None else fingerprint,
            privacy=(privacy or PiiStep(kind="pii")).to_json(),
            list_dropped=int(list_dropped),
            input_config=example_gen_pb2.Input(splits=[split]),
            output_config=example_gen_pb2.Output(),
            output_data_format=example_gen_pb2.FORMAT_TF_EXAMPLE,
            output_file_format=example_gen_pb2.FORMAT_TFRECORDS_GZIP,
        )
