"""The fine-tuning pipeline: from labelled records and a model bundle to a served task model.

LabelledExampleGen -> StatisticsGen -> ExampleValidator -> TaskDataValidator [-> DistributionValidator]
                      TaskSchemaGen ------^
                   -> TaskRowGen -> Trainer -> Evaluator -> ServingValidator -> Pusher -> TaskReporter
BaseImporter ------------^-----------^

The base enters as an artifact of ML Metadata, so that lineage says which model a task model comes from.
Of a recipe with a search, a Tuner before the Trainer gives it the best values. Of one with predictions, a
BulkInferrer after the Pusher asks the blessed model, and PredictionExporter writes its answers.
"""

import os
from collections.abc import Callable, Mapping, Sequence

from tfx.components import BulkInferrer, ExampleValidator, Pusher as TfxPusher, StatisticsGen, Trainer
from tfx.dsl.components.base.base_node import BaseNode
from tfx.dsl.components.common.importer import Importer
from tfx.dsl.components.common.resolver import ResolverStrategy
from tfx.orchestration.pipeline import Pipeline
from tfx.proto import bulk_inferrer_pb2

from firth.components import (
    LabelledExampleGen,
    PredictionExporter,
    Pusher,
    RequestExampleGen,
    TaskDataValidator,
    TaskReporter,
    TaskRowGen,
    TaskSchemaGen,
)
from firth.components.file_digests import FILES, FileDigests
from firth.pipelines.corpus import assemble
from firth.pipelines.distributions import (
    comparison_components,
    distances_in,
    request_statistics,
    requests_of,
)
from firth.pipelines.trained_model import import_base, model_components, report_channels
from firth.recipes.run.adapting import AdaptingRecipe
from firth.recipes.run.validation import TaskValidation
from firth.recipes.training.evaluation import TaskEvaluation
from firth.serving.batch.column_check import check_predictions
from firth.serving.signature import PREDICT_EXAMPLES

# Keys that the Trainer does not read, so that its cache does not depend on them.
_NOT_TRAINED_BY = {
    "description": "",
    "validation": TaskValidation(),
    "predictions": None,
    "infra_validation": None,
    "metadata": None,
    "evaluation": TaskEvaluation(),
}
EXAMPLE_GEN = "PredictionExampleGen"


def create_pipeline(
    recipe: AdaptingRecipe,
    pipeline_root: str,
    *,
    serving_dir: str | None = None,
    checkpoint_root: str | None = None,
    run_dir: str = "",
    metadata_path: str | None = None,
    beam_pipeline_args: Sequence[str] = (),
    enable_cache: bool = True,
    baseline_strategy: type[ResolverStrategy] | None = None,
    has_baseline: bool = True,
    make_trainer: Callable[..., Trainer] = Trainer,
    make_pusher: Callable[..., TfxPusher] = Pusher,
    digests: FileDigests = FILES,
) -> Pipeline:
    """Returns the TFX pipeline that a recipe describes.

    Each component gets only its part of the recipe, so a changed key reruns only what depends on it.

    Raises:
        ValueError: if a file of the data or of requests is not there, or if the recipe limits the drift where
            no earlier run can be looked up.
    """
    base = import_base(recipe.base)
    records = LabelledExampleGen(recipe.data, recipe.task, digests.of_data(recipe.data))
    checks = _record_checks(recipe, records, base, digests, is_local=bool(metadata_path))
    rows = TaskRowGen(
        examples=records.outputs["examples"],
        base=base.outputs["result"],
        task=recipe.task,
        sequences=recipe.sequences,
    )
    # It takes no input from the last validator, but must not start if one fails.
    rows.add_upstream_node(checks[-1])
    model = model_components(
        recipe,
        recipe.model_copy(update=_NOT_TRAINED_BY),
        rows.outputs["examples"],
        base.outputs["result"],
        checkpoint_root or os.path.join(pipeline_root, "checkpoints"),
        serving_dir or os.path.join(pipeline_root, "serving"),
        baseline_strategy=baseline_strategy,
        has_baseline=has_baseline,
        is_local=bool(metadata_path),
        make_trainer=make_trainer,
        make_pusher=make_pusher,
        records=records.outputs["examples"],
    )
    predictions = bulk_predictions(recipe, model, digests)
    reporter = TaskReporter(
        records=records.outputs["examples"],
        rows=rows.outputs["examples"],
        found=next(each.outputs["found"] for each in checks if "found" in each.outputs),
        distances=distances_in(checks),
        recipe=recipe,
        run_dir=run_dir,
        **report_channels(model),
    )
    components = [base, records, *checks, rows, *model.values(), *predictions, reporter]
    return assemble(recipe, components, pipeline_root, metadata_path, beam_pipeline_args, enable_cache)


def _record_checks(
    recipe: AdaptingRecipe,
    records: LabelledExampleGen,
    base: Importer,
    digests: FileDigests,
    *,
    is_local: bool,
) -> list[BaseNode]:
    """Returns the components that compare the records with the schema of the task, and with other data.

    The last one is the gate.
    """
    statistics = StatisticsGen(examples=records.outputs["examples"])
    schema = TaskSchemaGen(task=recipe.task)
    validator = ExampleValidator(statistics=statistics.outputs["statistics"], schema=schema.outputs["schema"])
    gate = TaskDataValidator(
        statistics=statistics.outputs["statistics"],
        anomalies=validator.outputs["anomalies"],
        examples=records.outputs["examples"],
        base=base.outputs["result"],
        task=recipe.task,
        sequences=recipe.sequences,
        unknown_targets=recipe.validation.unknown_targets,
    )
    requests = _request_statistics(recipe, digests)
    others = comparison_components(
        recipe.validation,
        statistics,
        schema.outputs["schema"],
        gate,
        is_local=is_local,
        serving=requests[-1] if requests else None,
    )
    return [statistics, schema, validator, gate, *requests, *others]


def _request_statistics(recipe: AdaptingRecipe, digests: FileDigests) -> list[BaseNode]:
    """Returns the components from a file of requests to their statistics; none without a file."""
    path = recipe.validation.requests
    if path is None:
        return []
    requests = requests_of(recipe, path, digests)
    return [requests, request_statistics(requests)]


def bulk_predictions(
    recipe: AdaptingRecipe, model: Mapping[str, BaseNode], digests: FileDigests
) -> list[BaseNode]:
    """Returns the components from a file to predictions; none for a recipe without such a file.

    Raises:
        ValueError: if the file does not exist, or if the model cannot be asked about any of its records.
    """
    asked = recipe.predictions
    if asked is None:
        return []
    trained = model["trainer"].outputs["model"]
    digest = digests.of_requests(asked.input)
    # Where a pipeline is compiled, the file may not be there yet.
    if digest:
        check_predictions(recipe)
    examples = RequestExampleGen(asked.input, asked.columns, digest, trained, asked.quoted)
    examples = examples.with_id(EXAMPLE_GEN)
    inferrer = BulkInferrer(
        examples=examples.outputs["examples"],
        model=trained,
        model_blessing=model["evaluator"].outputs["blessing"],
        model_spec=bulk_inferrer_pb2.ModelSpec(model_signature_name=[PREDICT_EXAMPLES]),
    )
    # It takes no input from the Pusher; a model that cannot be served is not asked either.
    inferrer.add_upstream_node(model["pusher"])
    exporter = PredictionExporter(inferrer.outputs["inference_result"], examples.outputs["examples"], trained)
    return [examples, inferrer, exporter]
