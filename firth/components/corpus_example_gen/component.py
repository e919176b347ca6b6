"""The declaration of CorpusExampleGen."""

from collections.abc import Sequence

from tfx.proto import example_gen_pb2
from tfx.types import standard_artifacts, standard_component_specs

from firth.components.corpus_example_gen.executor import SPLIT, Executor
from firth.components.declaration import BeamComponent, declare
from firth.corpus import fingerprint as fingerprint_of
from firth.recipes.corpus.privacy import PiiStep
from firth.recipes.corpus.sources import AnySource
from firth.recipes.corpus.sources_json import sources_to_json


class CorpusExampleGen(BeamComponent, executor=Executor):
    """Reads a recipe's sources into tf.Examples of one split, `corpus`.

    Each example is a document with the bytes features `id`, `text`, `source`, `licence` and `uri`.

    Args:
        sources: Sources of the recipe.
        fingerprint: Result of `firth.corpus.fingerprint(sources)`, taken now if it is not given. The cached
            output is used again only while it stays the same.
        privacy: Step that replaces personal data in the excerpts of rejected records; all types, unless it is
            given.

    Outputs:
        examples: The documents. Next to the split stand `rejected.jsonl`, the records that could not be read,
            and `source_counts.json`.
        records: What each record is (see `firth.corpus.readers.record_profiles`), read or rejected, without
            its text. Statistics are taken of these.

    Raises:
        firth.corpus.SourceError: without a fingerprint, if a pattern matches no file or a package is not
            installed.
    """

    # Three parameters of its own, and those of TFX's ExampleGen executors.
    SPEC_CLASS = declare(
        outputs={"examples": standard_artifacts.Examples, "records": standard_artifacts.Examples},
        parameters={
            "sources": str,
            "fingerprint": str,
            "privacy": str,
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
    ) -> None:
        split = example_gen_pb2.Input.Split(name=SPLIT, pattern="*")
        super().__init__(
            sources=sources_to_json(sources),
            fingerprint=fingerprint_of(sources) if fingerprint is None else fingerprint,
            privacy=(privacy or PiiStep(kind="pii")).to_json(),
            input_config=example_gen_pb2.Input(splits=[split]),
            output_config=example_gen_pb2.Output(),
            output_data_format=example_gen_pb2.FORMAT_TF_EXAMPLE,
            output_file_format=example_gen_pb2.FORMAT_TFRECORDS_GZIP,
        )
