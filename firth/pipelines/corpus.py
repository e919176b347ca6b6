"""The beginning of all pipelines: from a recipe's sources to a cleaned corpus that keeps its limits."""

from collections.abc import Iterable, Sequence

from tfx.components import ExampleValidator, SchemaGen, StatisticsGen
from tfx.dsl.components.base.base_node import BaseNode
from tfx.orchestration.pipeline import Pipeline

from firth.components import (
    AnomalyValidator,
    CorpusExampleGen,
    CorpusExporter,
    CorpusReporter,
    CorpusValidator,
    Curator,
    PinnedSchemaGen,
)
from firth.components.file_digests import FILES, FileDigests
from firth.corpus.privacy.excerpts import privacy_of
from firth.corpus.workers.options import options_for
from firth.pipelines.distributions import REPORT, comparison_components, earlier_corpus, earlier_inputs
from firth.pipelines.metadata_stores import connection_config
from firth.recipes import Recipe
from firth.recipes.run.run_recipe import RunRecipe


def corpus_components(
    recipe: Recipe, source_schema: str | None = None, digests: FileDigests = FILES, is_local: bool = False
) -> dict[str, BaseNode]:
    """Returns the components from files to a validated corpus, by their roles.

    Raises:
        firth.corpus.CorpusError: if a source names no file, or a cleaning step a file that does not exist.
        ValueError: if the recipe limits the drift where no earlier run can be looked up.
    """
    recipe = digests.newest(recipe)
    fingerprint = digests.of_sources(recipe.sources)
    example_gen = CorpusExampleGen(
        recipe.sources, fingerprint, privacy_of(recipe.cleaning), recipe.cleaning.list_dropped
    )
    examples = example_gen.outputs["examples"]
    curator = Curator(
        examples=examples, cleaning=recipe.cleaning, files_digest=digests.of_cleaning(recipe.cleaning)
    )
    checks = _record_checks(example_gen, source_schema or recipe.source_schema, digests)
    drift = comparison_components(
        recipe.validation.of_records,
        checks["statistics"],
        checks.get("pinned_schema", checks["schema"]).outputs["schema"],
        checks["anomaly_validator"],
        is_local=is_local,
    )
    checks |= {each.id: each for each in drift}
    # It takes no input from the validators, but must not start if one fails.
    for gate in (checks["anomaly_validator"], *drift[-1:]):
        curator.add_upstream_node(gate)
    report = curator.outputs["report"]
    reporter = CorpusReporter(report=report, name=recipe.name, cleaning=recipe.cleaning)
    shares = recipe.validation.of_corpus
    earlier = earlier_corpus(shares, curator, is_local=is_local)
    limits = CorpusValidator(
        report, recipe.cleaning.limits, shares, **earlier_inputs(earlier, REPORT, shares)
    )
    # The page is written before the corpus may be refused.
    limits.add_upstream_node(reporter)
    components: dict[str, BaseNode] = {
        "example_gen": example_gen,
        **checks,
        "curator": curator,
        "corpus_reporter": reporter,
        "corpus_validator": limits,
        **({"previous_report": earlier} if earlier else {}),
    }
    # Documents that were only measured were not cleaned.
    if recipe.outputs and recipe.cleaning.measure != "only":
        exporter = CorpusExporter(
            examples=curator.outputs["examples"],
            report=report,
            outputs=recipe.outputs,
            recipe=recipe,
            fingerprint=fingerprint,
        )
        # A corpus that is refused is not given to others.
        exporter.add_upstream_node(limits)
        components["corpus_exporter"] = exporter
    return components


def _record_checks(
    example_gen: CorpusExampleGen, pinned: str | None, digests: FileDigests
) -> dict[str, BaseNode]:
    """Returns the components that compare the records of the sources with a schema."""
    statistics = StatisticsGen(examples=example_gen.outputs["records"])
    inferred = SchemaGen(statistics=statistics.outputs["statistics"], infer_feature_shape=False)
    nodes: dict[str, BaseNode] = {"statistics": statistics, "schema": inferred}
    if pinned:
        nodes["pinned_schema"] = PinnedSchemaGen(schema_file=pinned, digest=digests.of_schema(pinned))
    schema = nodes.get("pinned_schema", inferred).outputs["schema"]
    validator = ExampleValidator(statistics=statistics.outputs["statistics"], schema=schema)
    gate = AnomalyValidator(
        anomalies=validator.outputs["anomalies"],
        inferred=inferred.outputs["schema"],
        schema_file=pinned or "",
    )
    return {**nodes, "validator": validator, "anomaly_validator": gate}


def assemble(
    recipe: RunRecipe,
    components: Iterable[BaseNode],
    pipeline_root: str,
    metadata_path: str | None,
    beam_pipeline_args: Sequence[str],
    enable_cache: bool,
) -> Pipeline:
    """Returns the pipeline of some components. Pipelines of one recipe share their cached outputs."""
    return Pipeline(
        pipeline_name=recipe.name,
        pipeline_root=pipeline_root,
        components=list(components),
        enable_cache=enable_cache,
        metadata_connection_config=connection_config(metadata_path) if metadata_path else None,
        beam_pipeline_args=options_for(pipeline_root, beam_pipeline_args),
    )


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

    Only the recipe's sources and its cleaning matter. In the same folders, `pretrain.create_pipeline`
    continues from its outputs.

    Raises:
        firth.corpus.CorpusError: if a source names no file, or a cleaning step a file that does not exist.
    """
    components = corpus_components(recipe, source_schema, digests, bool(metadata_path)).values()
    return assemble(recipe, components, pipeline_root, metadata_path, beam_pipeline_args, enable_cache)
