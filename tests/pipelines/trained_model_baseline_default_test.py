"""Which baseline a pipeline has if none is named."""

from tfx.dsl.components.common import resolver
from tfx.dsl.input_resolution.strategies.latest_blessed_model_strategy import LatestBlessedModelStrategy

from firth.pipelines.local import create_local_pipeline
from firth.pipelines.pretrain import create_pipeline
from firth.pipelines.trained_model import LatestComparableModelStrategy
from firth.recipes import load_recipe


def strategy_of(pipeline):
    (node,) = [each for each in pipeline.components if isinstance(each, resolver.Resolver)]
    return node.exec_properties[resolver.RESOLVER_STRATEGY_CLASS]


def test_every_orchestrator_knows_the_default_and_a_local_run_has_the_better_one(tmp_path):
    recipe = load_recipe("demo")
    assert strategy_of(create_pipeline(recipe, "gs://no-bucket/root")) is LatestBlessedModelStrategy
    assert strategy_of(create_local_pipeline(recipe, tmp_path)) is LatestComparableModelStrategy
