"""The components that ask a blessed model about records without labels."""

from collections.abc import Mapping

from tfx.components import BulkInferrer
from tfx.dsl.components.base.base_node import BaseNode
from tfx.proto import bulk_inferrer_pb2

from firth.components import PredictionExporter, RequestExampleGen
from firth.components.file_digests import FileDigests
from firth.recipes.run.adapting import AdaptingRecipe
from firth.serving.batch.asked_columns import check_asked
from firth.serving.descriptions.describing import PREDICT_EXAMPLES

EXAMPLE_GEN = "PredictionExampleGen"


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
        check_asked(recipe)
    examples = RequestExampleGen(asked.input, asked.columns, digest, trained, asked.quoted)
    examples = examples.with_id(EXAMPLE_GEN)
    inferrer = BulkInferrer(
        examples=examples.outputs["examples"],
        model=trained,
        model_blessing=model["evaluator"].outputs["blessing"],
        model_spec=bulk_inferrer_pb2.ModelSpec(model_signature_name=[PREDICT_EXAMPLES]),
    )
    # It takes no input from the Pusher; what cannot be served is not asked either.
    inferrer.add_upstream_node(model["pusher"])
    exporter = PredictionExporter(inferrer.outputs["inference_result"], examples.outputs["examples"], trained)
    return [examples, inferrer, exporter]
