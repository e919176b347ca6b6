"""Beam pipelines of TFX's own components are translated for each runner, on outputs of earlier components."""

import pytest
from apache_beam.options.pipeline_options import PipelineOptions
from tfx.components import BulkInferrer, Evaluator, StatisticsGen
from tfx.proto import bulk_inferrer_pb2
from tfx.types import channel_utils, standard_artifacts

from firth.components import LabelledExampleGen
from firth.evaluation import build_eval_config
from firth.models import build_model
from firth.recipes.tasks.classification import Classification
from firth.serving.saved_model import PREDICT_EXAMPLES, export
from firth.tokenizers import WordPieceTokenizer
from tests.components.components_corpus_test import run
from tests.exported_model import VOCABULARY
from tests.pipelines.pipelines_beam_options_test import OPTIONS, NotRun, Translated, no_bucket  # noqa: F401
from tests.reports.task_pages.records import adapting_recipe

pytestmark = pytest.mark.repeated


@pytest.fixture(scope="module")
def recipe(tmp_path_factory):
    path = tmp_path_factory.mktemp("records") / "train.csv"
    rows = [f"the cat sat {each},{('no', 'yes')[each % 2]}" for each in range(20)]
    path.write_text("\n".join(["text,label", *rows]))
    return adapting_recipe(
        task=Classification(labels=("no", "yes")), data={"kind": "columns", "train": str(path)}
    )


@pytest.fixture(scope="module")
def artifacts(tmp_path_factory, recipe):
    folder = tmp_path_factory.mktemp("artifacts")
    model = standard_artifacts.Model()
    model.uri = str(folder)
    export(build_model(recipe), WordPieceTokenizer(VOCABULARY), recipe, None, f"{folder}/Format-Serving")
    records = LabelledExampleGen(recipe.data, recipe.task, "1")
    return {"model": model, "examples": run(records, {}, folder / "records")["examples"]}


def _statistics(channels, recipe):
    return StatisticsGen(examples=channels["examples"])


def _evaluator(channels, recipe):
    config = build_eval_config(recipe.evaluation, recipe.goal)
    return Evaluator(**channels, eval_config=config)


def _inferrer(channels, recipe):
    spec = bulk_inferrer_pb2.ModelSpec(model_signature_name=[PREDICT_EXAMPLES])
    return BulkInferrer(**channels, model_spec=spec)


# The component, and a step that is among those of its pipeline.
COMPONENTS = {
    "StatisticsGen": (_statistics, "GenerateStatistics"),
    "Evaluator": (_evaluator, "ExtractEvaluateAndWriteResults"),
    "BulkInferrer": (_inferrer, "RunInference"),
}


@pytest.mark.parametrize("runner", OPTIONS)
@pytest.mark.parametrize("name", COMPONENTS)
@pytest.mark.usefixtures("no_bucket")
def test_it_is_translated(name, runner, artifacts, recipe, tmp_path):
    make, step = COMPONENTS[name]
    component = make({name: channel_utils.as_channel([each]) for name, each in artifacts.items()}, recipe)
    given = {name: artifacts[name] for name in component.inputs}

    def make_pipeline():
        return NotRun(options=PipelineOptions(OPTIONS[runner]))

    with pytest.raises(Translated) as translated:
        run(component, given, tmp_path, make_pipeline)
    transforms = translated.value.args[0].components.transforms.values()
    assert any(step in each.unique_name for each in transforms)
