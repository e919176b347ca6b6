"""The corpus part of the pre-training pipeline alone: from sources to cleaned documents and a page on them.

CorpusExampleGen -> StatisticsGen -> SchemaGen -> ExampleValidator -> AnomalyValidator
                 -> Curator -> CorpusReporter -> CorpusValidator [-> CorpusExporter]
"""

from collections.abc import Sequence

from tfx.orchestration.pipeline import Pipeline

from firth.components.file_digests import FILES, FileDigests
from firth.pipelines.corpus import assemble, corpus_components
from firth.recipes import Recipe


def create_pipeline(
    recipe: Recipe,
    pipeline_root: str,
    *,
    metadata_path: str | None = None,
    beam_pipeline_args: Sequence[str] = (),
    enable_cache: bool = True,
    source_schema: str | None = None,
    digests: FileDigests = FILES,
) -> Pipeline:
    """Returns the TFX pipeline that reads, cleans, reports on and validates the recipe's corpus.

    Only the recipe's sources and its cleaning matter. In the same folders, `pretrain.create_pipeline` goes on
    from its outputs.

    Args:
        recipe: Recipe to build the pipeline of.
        pipeline_root: Folder where TFX keeps artifacts, on any file system that TFX reads.
        metadata_path: Path of a local runner's SQLite file, or the URL of a database (see
            `metadata.stores.connection_config`); None leaves the metadata to the orchestrator.
        beam_pipeline_args: Options for every component on Beam; without any, Beam runs in this process.
        enable_cache: True to reuse outputs of components whose inputs and properties have not changed.
        source_schema: Path of the schema that the sources' records must match; the recipe's if not given.
        digests: Digests of the files that the pipeline reads, which decide whether cached outputs are used.

    Raises:
        firth.corpus.CorpusError: if a source names no file, or a cleaning step a file that does not exist.
    """
    components = corpus_components(recipe, source_schema, digests, bool(metadata_path)).values()
    return assemble(recipe, components, pipeline_root, metadata_path, beam_pipeline_args, enable_cache)
