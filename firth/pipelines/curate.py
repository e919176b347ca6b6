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

    Raises:
        firth.corpus.CorpusError: if a source names no file, or a cleaning step a file that does not exist.
    """
    components = corpus_components(recipe, source_schema, digests, bool(metadata_path)).values()
    return assemble(recipe, components, pipeline_root, metadata_path, beam_pipeline_args, enable_cache)
